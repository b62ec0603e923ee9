import type { WhileRunning } from "@convoke/protocol";
import { textAt } from "@convoke/client/view";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";

const modes = ["steer", "queue", "interrupt", "replace"] as const;

type SendModeProps = {
  readonly conversationId: string;
  /** Empty for the default of the conversation. */
  readonly mode: WhileRunning | "";
  readonly onChange: (mode: WhileRunning | "") => void;
};

/** What the next message does while the agent works. */
export function SendMode({ conversationId, mode, onChange }: SendModeProps) {
  const words = useMoreWords().sendMode;
  const usual = useDefault(conversationId);
  return (
    <select
      aria-label={words.label}
      value={mode === "" ? usual : mode}
      onChange={({ target }) => onChange(target.value as WhileRunning)}
      className="max-w-full rounded border border-line bg-canvas px-1 py-0.5 text-xs text-faint"
    >
      {modes.map((one) => (
        <option key={one} value={one}>
          {words.modes[one]}
        </option>
      ))}
      {usual === "reject" && <option value="reject">{words.modes.reject}</option>}
    </select>
  );
}

/** What a message does in this conversation unless it says otherwise. */
function useDefault(conversationId: string): string {
  const { client } = useServices();
  const [usual, setUsual] = useState("steer");
  useEffect(() => {
    client
      .getConversation(conversationId)
      .then((info) => setUsual(textAt(info, "while_running") || "steer"))
      .catch((error: unknown) => console.warn("The conversation could not be read.", error));
  }, [client, conversationId]);
  return usual;
}
