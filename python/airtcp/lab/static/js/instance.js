// A worker with an instance of the module, and its answers by the number of the question.

export class Instance {
  #worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  #waiting = new Map();
  #number = 0;

  constructor(module) {
    this.#worker.addEventListener("message", ({ data }) => this.#take(data));
    this.#worker.addEventListener("error", (event) => this.#fail(event.message));
    this.#worker.postMessage({ module });
  }

  // The answer to a request; `heard` is called with each message of a play.
  ask(request, { files = {}, signal, heard } = {}) {
    const number = this.#number += 1;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      signal?.addEventListener("abort", () => {
        this.#waiting.delete(number);
        this.#worker.postMessage({ number, cancel: true });
        reject(signal.reason);
      });
      this.#waiting.set(number, { resolve, reject, heard });
      this.#worker.postMessage({ number, request, files });
    });
  }

  end() {
    this.#worker.terminate();
    this.#fail("this worker was ended");
  }

  #take({ number, message, value, error }) {
    const waiting = this.#waiting.get(number);
    if (!waiting) return;
    if (message !== undefined) {
      waiting.heard?.(message);
      return;
    }
    this.#waiting.delete(number);
    if (error === undefined) waiting.resolve(value);
    else waiting.reject(new Error(error));
  }

  #fail(message) {
    for (const { reject } of this.#waiting.values()) reject(new Error(message));
    this.#waiting.clear();
  }
}
