"use strict";

// Commands can be copied.
const offerCopies = (root) => {
  for (const command of navigator.clipboard ? root.querySelectorAll("code.command") : []) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = "Copied";
      } catch {
        // Without the permission to copy, the command is at least selected.
        getSelection().selectAllChildren(command);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    command.after(button);
  }
};
offerCopies(document);

// Calls are added as they come.
(() => {
  const list = document.querySelector("[data-later]");
  const live = document.getElementById("live");
  if (!list || !live) return;
  const none = list.nextElementSibling;
  const most = 200;

  const say = (state, text) => {
    live.dataset.state = state;
    if (live.textContent !== text) live.textContent = text;
  };

  // One sentence for many calls, so that a screen reader can keep up; with a time, so that it is always a new one.
  const add = (items) => {
    for (const item of items.reverse()) {
      item.classList.add("new");
      list.prepend(item);
      offerCopies(item);
    }
    while (list.children.length > most) list.lastElementChild.remove();
    none.hidden = true;
    const refused = items.filter((item) => item.classList.contains("refused")).length;
    const told = items.length + (items.length === 1 ? " new call" : " new calls") + (refused ? ", " + refused + " refused" : "");
    say("on", "Live: " + told + ", at " + items.at(-1).querySelector("time b").textContent);
  };

  let asking = false;
  const ask = async () => {
    // A page in the background asks for nothing. It catches up when it is seen again.
    if (asking || document.hidden) return;
    asking = true;
    try {
      const answer = await fetch(list.dataset.later);
      if (!answer.ok) {
        clearInterval(timer);
        say("off", "Not live: reload the page to see new calls");
        return;
      }
      // Calls as the server makes them for the whole page. What is parsed this way runs nothing.
      const later = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("ol");
      list.dataset.later = later.dataset.later;
      const items = Array.from(later.children, (item) => document.adoptNode(item));
      if (items.length) add(items);
      else if (live.dataset.state !== "on") say("on", "Live: calls appear as they come");
    } catch {
      say("off", "Not live: the provider does not answer; trying again");
    } finally {
      asking = false;
    }
  };
  const timer = setInterval(ask, 1000);
  document.addEventListener("visibilitychange", ask);
  ask();
})();
