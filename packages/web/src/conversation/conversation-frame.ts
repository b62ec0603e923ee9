/** The parts of a conversation besides its timeline in one chunk, loaded after it. */
export { default as ConnectionLine } from "./connection-line.tsx";
export { default as ConversationBar } from "./conversation-bar.tsx";
export { default as Foot } from "./conversation-foot.tsx";
export { default as TaskStrip } from "./task-strip.tsx";
