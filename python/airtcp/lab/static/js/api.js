// What the server is asked. Errors of the server are thrown with its one sentence.

async function checked(response) {
  if (response.ok) return response;
  let message = `${response.status} ${response.statusText}`;
  try {
    message = (await response.json()).error ?? message;
  } catch { /* no JSON: the status says it */ }
  throw new Error(message);
}

async function reached(request) {
  try {
    return await request;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the lab does not answer: is `airtcp lab` still running?");
  }
}

export async function get(path) {
  return (await checked(await reached(fetch(path)))).json();
}

export async function post(path, value, signal) {
  const options = { method: "POST", body: JSON.stringify(value), signal };
  return (await checked(await reached(fetch(path, options)))).json();
}

// Calls `heard` with each message of a stream, a line of JSON each.
export async function stream(path, value, signal, heard) {
  const options = { method: "POST", body: JSON.stringify(value), signal };
  const response = await checked(await reached(fetch(path, options)));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value: text } = await reader.read();
    if (done) break;
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.kind === "error") throw new Error(message.message);
      heard(message);
    }
  }
}

export async function drop(files) {
  const named = JSON.stringify(files.map((file) => [file.name, file.size]));
  const path = `/api/drop?files=${encodeURIComponent(named)}`;
  const options = { method: "POST", body: new Blob(files) };
  return (await checked(await reached(fetch(path, options)))).json();
}
