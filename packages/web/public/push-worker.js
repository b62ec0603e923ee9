// Service worker of a browser that is subscribed to push. It caches no page and intercepts no request.

addEventListener("install", () => self.skipWaiting());
addEventListener("push", (event) => event.waitUntil(notify(event.data)));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.conversationId));
});

/** Shows a notification, unless a tab is visible: that tab shows its own. */
async function notify(data) {
  const { conversation_id: conversationId, kind } = data.json();
  const tabs = await findTabs();
  if (tabs.some((tab) => tab.visibilityState === "visible")) return;
  const cached = await caches.match(new URL("push-words", registration.scope));
  const texts = cached === undefined ? {} : await cached.json();
  await registration.showNotification(texts[kind] ?? "Convoke", {
    tag: conversationId,
    icon: new URL("icon.svg", registration.scope).href,
    data: { conversationId },
  });
}

/** Opens the conversation. An open tab navigates without a reload, so that typed text is not lost. */
async function open(conversationId) {
  const address = new URL(`c/${conversationId}`, registration.scope).href;
  const tabs = await findTabs();
  const tab = tabs.find(({ url }) => url === address) ?? tabs[0];
  if (tab === undefined) return await clients.openWindow(address);
  tab.postMessage({ open: conversationId });
  return await tab.focus();
}

async function findTabs() {
  const tabs = await clients.matchAll({ type: "window", includeUncontrolled: true });
  return tabs.filter(({ url }) => url.startsWith(registration.scope));
}
