// The core of `airtcp lab`, over HTTP. Errors of the server are thrown with its one sentence.

export class Server {
  offers = { answer: true, explain: true, reports: true };
  place = "Everything is computed on this machine, by airtcp lab; the page asks nobody else.";

  overview() { return getJson("api/links"); }

  link(request, signal) { return post("api/link", request, signal); }

  play(request, signal, heard) { return stream("api/play", request, signal, heard); }

  cloud(request, signal, heard) { return stream("api/cloud", request, signal, heard); }

  answer(request, signal, heard) { return stream("api/answer", request, signal, heard); }

  explain(request, signal) { return post("api/explain", request, signal); }

  reports() { return getJson("api/reports"); }

  // A file's name and content; `recordings` lists the files that it names and that the user
  // has, `made` has the contents of the others.
  async scenario(request) {
    const { name, content } = await post("api/scenario", request);
    const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
    return { name, blob: new Blob([bytes]), recordings: [], made: {} };
  }

  async drop(files) {
    const named = JSON.stringify(files.map((file) => [file.name, file.size]));
    const path = `api/drop?files=${encodeURIComponent(named)}`;
    const options = { method: "POST", body: new Blob(files) };
    return (await checked(await reached(fetch(path, options)))).json();
  }
}

export async function getJson(path) {
  return (await checked(await reached(fetch(path)))).json();
}

async function post(path, value, signal) {
  const options = { method: "POST", body: JSON.stringify(value), signal };
  return (await checked(await reached(fetch(path, options)))).json();
}

// Calls `heard` with each message of a stream, a line of JSON each.
async function stream(path, value, signal, heard) {
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
    throw new Error("the lab does not answer: is its server still running?");
  }
}
