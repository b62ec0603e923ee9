import { maskCut } from "../../security/mask.ts";
import { secretValues } from "../secret-values.ts";
import type { Configuration } from "../configuration.ts";
import type { ConversationLog } from "../conversation-log.ts";
import type { RunDeps } from "./run-deps.ts";

/** Of a long text the end is sent, which is the new part. */
const maxCharacters = 4_096;

/**
 * Publishes the output of a running tool to subscribers, masked like its observation; never stored. The whole text
 * is masked before it is cut, so that no part of a secret remains at its start or end (P13).
 */
export function progressOf(
  {
    configuration,
    log,
    signals,
  }: Pick<RunDeps, "signals"> & {
    readonly configuration: Pick<Configuration, "secrets">;
    readonly log: Pick<ConversationLog, "mask">;
  },
  actionId: string,
): (text: string) => void {
  let seq = 0;
  return (whole) => {
    seq += 1;
    signals.emitProgress(() => {
      const text = maskCut(whole, secretValues(configuration.secrets)).slice(-maxCharacters);
      return log.mask(JSON.stringify({ kind: "ToolProgress", action_id: actionId, seq, text }));
    });
  };
}
