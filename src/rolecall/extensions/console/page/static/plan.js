// A plan that is being made is asked about until it is there.

const EVERY_MS = 1000;

async function look() {
  const part = document.querySelector("[data-awaits]");
  if (!part) return;
  try {
    const answer = await fetch(part.dataset.awaits, { headers: { "X-Fragment": "1" }, redirect: "manual" });
    if (!answer.ok || !(await answer.text()).includes("data-awaits")) {
      location.reload();
      return;
    }
  } catch {
    // The operator does not answer: it may in a moment.
  }
  setTimeout(look, EVERY_MS);
}

look();
