// Workers that share tasks: each takes the next one as it finishes.

import { Instance } from "./instance.js";

const MAX_WORKERS = 8;

export class Crew {
  #module;
  #idle = [];

  constructor(module) {
    this.#module = module;
  }

  // Calls `work(instance, task)` for every task, as many at once as there are processors.
  async share(tasks, signal, work) {
    const left = [...tasks];
    const count = Math.min(navigator.hardwareConcurrency || 2, MAX_WORKERS, left.length);
    const own = Array.from({ length: count }, () => this.#idle.pop() ?? new Instance(this.#module));
    // A run cannot be interrupted, but its worker can be ended.
    const end = () => own.splice(0).forEach((instance) => instance.end());
    signal.addEventListener("abort", end);
    try {
      await Promise.all(own.map(async (instance) => {
        while (left.length && !signal.aborted) await work(instance, left.shift());
      }));
      this.#idle.push(...own);
    } catch (error) {
      end();
      throw error;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }
}
