// An action is asked about in a dialog: the same question that its link leads to without this script.

import { asked, parsed } from "./page.js";

const dialog = document.createElement("dialog");
dialog.setAttribute("aria-labelledby", "ask-title");
let from = "";

async function open(link) {
  from = link.getAttribute("href");
  const mark = from.includes("?") ? "&" : "?";
  const answer = await asked(`${from}${mark}fragment=1`);
  if (answer === null) return;
  dialog.replaceChildren(parsed(await answer.text()));
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const closes = event.target === dialog || event.target.closest("dialog [data-closes]");
  const link = event.target.closest("a[data-ask]");
  if (!closes && !link) return;
  event.preventDefault();
  if (closes) dialog.close();
  else open(link).catch(() => location.assign(link.href)); // its page says what is wrong
});

// Keys in the dialog are not those of the page below.
dialog.addEventListener("keydown", (event) => event.stopPropagation());

dialog.addEventListener("close", () => {
  // The link may have been renewed meanwhile, and be another one by now.
  const links = [...document.querySelectorAll("a[data-ask]")];
  (links.find((each) => each.getAttribute("href") === from) ?? links[0])?.focus();
});
