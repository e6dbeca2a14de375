// Refreshes live pages while somebody looks at them: opened details stay open, and boxes scrolled. Helps with files on the
// page that tries strategies, which works without this.
"use strict";

const EVERY = 2000;
const state = document.getElementById("state");
let shown = null;

// Whether somebody reads closely: then the page stays as it is.
function isBusy(main) {
  const selection = document.getSelection();
  const selects = selection && !selection.isCollapsed && main.contains(selection.anchorNode);
  const focused = document.activeElement;
  return selects || (focused !== main && main.contains(focused));
}

async function refresh() {
  const main = document.querySelector("main[data-live]");
  if (!main || document.hidden || isBusy(main)) return;
  let text;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) return;
    text = await answer.text();
  } catch {
    state.textContent = "baler has ended; baler ui shows these pages again";
    return;
  }
  state.textContent = "";
  if (text === shown || isBusy(main)) return;
  shown = text;
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("main");
  if (!fresh) return;
  const scrolled = Array.from(main.querySelectorAll(".scroll"), (box) => box.scrollLeft);
  const opened = Array.from(main.querySelectorAll("details[open][id]"), (box) => box.id);
  for (const id of opened) fresh.querySelector("#" + id)?.setAttribute("open", "");
  main.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((box, index) => {
    box.scrollLeft = scrolled[index] ?? 0;
  });
}

if (document.querySelector("main[data-live]")) setInterval(refresh, EVERY);

const input = document.querySelector("input[type=file][data-most]");
if (input) {
  const check = () => {
    const file = input.files[0];
    const isTooLarge = file && file.size > Number(input.dataset.most);
    input.setCustomValidity(isTooLarge ? "This file is too large." : "");
  };
  input.addEventListener("change", check);
  for (const [kind, isOver] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer || !event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.toggle("drop", isOver);
      if (kind === "drop") {
        input.files = event.dataTransfer.files;
        check();
        input.focus();
      }
    });
  }
  input.form.addEventListener("submit", () => {
    const button = input.form.querySelector("button");
    button.disabled = true;
    button.textContent = "Trying …";
  });
  addEventListener("pageshow", () => {
    const button = input.form.querySelector("button");
    button.disabled = false;
    button.textContent = "Try";
  });
}
