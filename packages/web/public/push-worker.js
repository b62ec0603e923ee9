// Runs in the background where somebody has asked to be told while no tab is open. It reads no page and changes no request.

addEventListener("install", () => self.skipWaiting());
addEventListener("push", (event) => event.waitUntil(tell(event.data)));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.conversationId));
});

/** A tab that can be seen tells it itself, where it is not on the screen anyway. */
async function tell(data) {
  const { conversation_id: conversationId, kind } = data.json();
  const pages = await ownPages();
  if (pages.some((page) => page.visibilityState === "visible")) return;
  const kept = await caches.match(new URL("push-words", registration.scope));
  const words = kept === undefined ? {} : await kept.json();
  await registration.showNotification(words[kind] ?? "Convoke", {
    tag: conversationId,
    icon: new URL("icon.svg", registration.scope).href,
    data: { conversationId },
  });
}

/** A tab that is open goes there without loading anew, so that nothing that was typed is lost. */
async function open(conversationId) {
  const address = new URL(`c/${conversationId}`, registration.scope).href;
  const pages = await ownPages();
  const page = pages.find(({ url }) => url === address) ?? pages[0];
  if (page === undefined) return await clients.openWindow(address);
  page.postMessage({ open: conversationId });
  return await page.focus();
}

async function ownPages() {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  return pages.filter(({ url }) => url.startsWith(registration.scope));
}
