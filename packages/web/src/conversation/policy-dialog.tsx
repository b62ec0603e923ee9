import { useEffect, useRef, useState } from "react";
import { approvalModeOf, approvalModes, policyOf, type ApprovalMode } from "../lib/approval-mode.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import type { Attempt } from "./attempt.ts";

type PolicyDialogProps = {
  readonly id: string;
  /** `kind` of the current policy. */
  readonly policy: string;
  readonly onAttempt: Attempt;
  readonly onClose: () => void;
};

/** The approval settings of this conversation; they apply from the next action on. */
export default function PolicyDialog({ id, policy, onAttempt, onClose }: PolicyDialogProps) {
  const words = useWords();
  const more = useMoreWords();
  const { client } = useServices();
  /** The chosen value, until the log confirms it. */
  const [chosen, setChosen] = useState<ApprovalMode | null>(null);
  useEffect(() => setChosen((care) => (care === approvalModeOf(policy) ? null : care)), [policy]);
  /** Arrow keys are faster than the server: each change waits for the previous one. */
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const now = chosen ?? approvalModeOf(policy);
  const choose = (care: ApprovalMode): void => {
    const { policy: wanted, analyzer } = policyOf(care);
    setChosen(care);
    const set = async (): Promise<void> => {
      if (analyzer !== null) await client.setSecurityAnalyzer(id, analyzer);
      await client.setConfirmationPolicy(id, wanted);
    };
    before.current = before.current.then(() => onAttempt(set)).then((isDone) => isDone || setChosen(null));
  };
  return (
    <Dialog title={more.conversation.policy} onClose={onClose} width="w-[26rem]">
      <fieldset className="mb-3">
        <legend className="mb-2 text-sm text-soft">{more.care.explanation}</legend>
        {approvalModes.map((care) => (
          <label
            key={care}
            className="flex items-center gap-2.5 rounded px-2 py-1.5 hover:bg-hover pointer-coarse:min-h-11"
          >
            <input
              type="radio"
              name={`care-${id}`}
              className="accent-accent-fill"
              checked={care === now}
              onChange={() => choose(care)}
            />
            {more.care[care]}
          </label>
        ))}
      </fieldset>
      <div className="flex justify-end">
        <Button onClick={onClose}>{words.common.close}</Button>
      </div>
    </Dialog>
  );
}
