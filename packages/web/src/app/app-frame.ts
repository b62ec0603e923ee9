/** The frame of every screen in one chunk, loaded after the first paint. */
export { default as Announcer } from "./announcer.tsx";
export { default as KeyMap } from "./key-map.tsx";
export { default as Notifier } from "./notifier.tsx";
export { default as Rail } from "./rail.tsx";
export { default as Tabs } from "./tabs.tsx";
export { default as Upkeep } from "./upkeep.tsx";
