import { UnknownToolError, type SessionSpec, type SessionTool, type ToolListing } from "./host.ts";
import { listTool } from "./list-tool.ts";
import { facesOf, type Tool, type ToolFace, type ToolSet } from "./tool.ts";

/**
 * What a session of a host with these tools offers, without opening one. Throws {@link UnknownToolError}. No description depends on the
 * environment of the tools.
 */
export function listSession(tools: readonly (Tool | ToolSet)[], spec: SessionSpec): ToolListing[] {
  const { sessionId, workspaceDir, stateDir, canSee = false } = spec;
  return spec.tools.flatMap((wanted) => {
    const tool = tools.find(({ name }) => name === wanted.name);
    if (tool === undefined)
      throw new UnknownToolError(
        wanted.name,
        tools.map(({ name }) => name),
      );
    const context = {
      sessionId,
      workspaceDir,
      stateDir,
      environment: {},
      params: wanted.params ?? {},
      canSee,
    };
    return wantedFaces(tool, wanted).map((face) => listTool(face, context));
  });
}

/** The functions of a tool that a session has. */
export function wantedFaces(tool: Tool | ToolSet, { members }: SessionTool): readonly ToolFace[] {
  const faces = facesOf(tool);
  return members === undefined ? faces : faces.filter(({ name }) => members.includes(name));
}
