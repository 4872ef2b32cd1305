// Links: chosen from the list, or dropped.

import { core } from "./core.js";
import { by, element } from "./elements.js";

export function listLinks(links, chosen) {
  const groups = new Map();
  for (const link of links) {
    const name = link.kind === "ready" ? "Ready scenarios" : "Dropped here";
    groups.set(name, [...(groups.get(name) ?? []), link]);
  }
  by("link").replaceChildren(...[...groups].map(([label, some]) =>
    element("optgroup", { label }, ...some.map((link) =>
      element("option", { value: link.id, title: link.description }, link.name)))));
  by("link").value = chosen;
}

// Calls `taken(id, toml)` for files that were dropped or opened, `failed(error)` where they are no
// link.
export function acceptFiles(taken, failed) {
  const take = async (list) => {
    const files = [...list];
    if (files.length === 0) return;
    try {
      by("status").textContent = `reading ${files.map((file) => file.name).join(", ")}`;
      const { id } = await core.drop(files);
      const scenario = files.length === 1 && files[0].name.endsWith(".toml") ? files[0] : null;
      const toml = scenario ? { name: scenario.name, text: await scenario.text() } : null;
      await taken(id, toml);
    } catch (error) {
      failed(error);
    }
  };
  by("file").addEventListener("change", async (event) => {
    await take(event.target.files);
    event.target.value = "";
  });
  for (const kind of ["dragover", "drop", "dragleave"]) {
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      by("drop-zone").classList.toggle("over", kind === "dragover");
      if (kind === "drop") void take(event.dataTransfer.files);
    });
  }
}

export async function showReports() {
  const reports = await core.reports();
  const items = reports.map((report) => {
    const path = report.path.split("/").map(encodeURIComponent).join("/");
    const day = new Date(report.modified_s * 1000).toLocaleString();
    return element("li", {},
      element("a", { href: `reports/${path}`, target: "_blank", rel: "noopener" }, report.title),
      ` ${report.path}, ${day}`);
  });
  by("reports-list").replaceChildren(...(items.length ? items : [element("li", {},
    "None yet: airtcp compare FILE --remedy NAME --out out writes one.")]));
  by("reports").showModal();
}
