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

// Calls are appended as they come.
(() => {
  const list = document.querySelector("[data-events]");
  const live = document.getElementById("live");
  if (!list || !live) return;
  const none = list.nextElementSibling;
  const most = 200;
  const address = new URL(list.dataset.events, location.href);
  let source = null;
  let trouble = 0;
  let news = { calls: 0, refused: 0, at: "" };
  let telling = 0;

  const say = (state, text) => {
    live.dataset.state = state;
    if (live.textContent !== text) live.textContent = text;
  };
  const quiet = () => say("on", "Live: calls appear as they come");

  // One sentence for many calls, so that a screen reader can keep up; with a time, so that it is always a new one.
  const tell = () => {
    telling = 0;
    const { calls, refused, at } = news;
    news = { calls: 0, refused: 0, at: "" };
    const told = calls + (calls === 1 ? " new call" : " new calls") + (refused ? ", " + refused + " refused" : "");
    say("on", "Live: " + told + ", at " + at);
  };

  const add = (item) => {
    item.classList.add("new");
    list.prepend(item);
    if (none) none.hidden = true;
    while (list.children.length > most) list.lastElementChild.remove();
  };

  const connected = () => {
    clearTimeout(trouble);
    trouble = 0;
    if (live.dataset.state !== "on") quiet();
  };

  const close = () => {
    clearTimeout(trouble);
    trouble = 0;
    if (source) source.close();
    source = null;
  };

  const open = () => {
    close();
    source = new EventSource(address);
    source.addEventListener("open", connected);
    source.addEventListener("call", (event) => {
      // A call as the server makes it for the whole page. What is parsed this way runs nothing.
      const item = new DOMParser().parseFromString(event.data, "text/html").querySelector("li");
      if (!item) return;
      add(document.adoptNode(item));
      offerCopies(item);
      address.searchParams.set("after", event.lastEventId);
      news.calls += 1;
      news.at = item.querySelector("time b")?.textContent ?? "";
      if (item.classList.contains("refused")) news.refused += 1;
      if (!telling) telling = setTimeout(tell, 300);
    });
    source.addEventListener("lost", (event) => {
      const item = document.createElement("li");
      item.className = "lost";
      const calls = event.data + (event.data === "1" ? " call" : " calls");
      item.textContent = "Not shown: " + calls + " came faster than this page could follow.";
      add(item);
      address.searchParams.set("after", event.lastEventId);
    });
    source.addEventListener("error", () => {
      if (source && source.readyState === EventSource.CLOSED) {
        say("off", "Not live: reload the page to see new calls");
      } else if (!trouble) {
        // The provider ends each stream after a while, and the browser begins another one at once.
        trouble = setTimeout(() => say("off", "Not live: the provider does not answer; trying again"), 3000);
      }
    });
  };

  // A page in the background holds no connection, of which a browser has few. It catches up when it is seen again.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  if (!document.hidden) open();
})();
