const sandboxOfOne = "fails in the SDK: only with a container for one conversation alone.";
const sdkHasNone = "fails in the SDK: not for remote conversations.";
const noPause = "fails in the SDK: not for this workspace.";

/** Public methods of the SDK that do not succeed, by `Class.method`, with reasons; the runner checks the list. */
export const missingMethods: ReadonlyMap<string, string> = new Map([
  ["RemoteConversation.arun", sdkHasNone],
  ["RemoteConversation.execute_tool", sdkHasNone],
  ["RemoteConversation.stuck_detector", sdkHasNone],
  ["RemoteWorkspace.pause", noPause],
  ["RemoteWorkspace.resume", noPause],
  ["RemoteWorkspace.get_runtime_session_key", sandboxOfOne],
  ["RemoteWorkspace.release_runtime", sandboxOfOne],
  ["AsyncRemoteWorkspace.get_runtime_session_key", sandboxOfOne],
  ["AsyncRemoteWorkspace.release_runtime", sandboxOfOne],
]);
