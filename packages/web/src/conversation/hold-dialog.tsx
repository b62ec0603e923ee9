import type { ConversationHold } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";

type HoldDialogProps = { readonly id: string; readonly onClose: () => void };

const path = "/api/conversations/{conversation_id}/hold";

/** Holds a conversation, so that nothing deletes it, or lifts its hold. */
export default function HoldDialog({ id, onClose }: HoldDialogProps) {
  const words = useMoreWords().hold;
  const { client, language } = useServices();
  const [hold, setHold] = useState<ConversationHold | null>(null);
  const [isRead, setRead] = useState(false);
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const params = { conversation_id: id };

  useEffect(() => {
    const stop = new AbortController();
    client
      .call("GET /api/holds", { signal: stop.signal })
      .then(({ items }) => {
        const own = items.find((item) => item.conversation_id === id) ?? null;
        setHold(own);
        setReason(own?.reason ?? "");
        setRead(true);
      })
      .catch((error: unknown) => {
        if (!stop.signal.aborted) setProblem(String(error));
      });
    return () => stop.abort();
  }, [client, id]);

  const attempt = async (act: () => Promise<unknown>): Promise<void> => {
    setProblem(null);
    try {
      await act();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <Dialog title={words.title} onClose={onClose} width="w-[26rem]">
      <p className="mb-3 text-sm text-soft">{words.about}</p>
      {hold !== null && (
        <p className="mb-3 text-sm">{words.since(shownTime(hold.held_at, language, new Date()))}</p>
      )}
      <Field label={words.reason}>
        {(inputId) => (
          <input
            id={inputId}
            className={inputClass}
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <Problem text={problem} />
      <div className="flex justify-end gap-2">
        {hold !== null && (
          <Button onClick={() => void attempt(() => client.call(`DELETE ${path}`, { params }))}>
            {words.lift}
          </Button>
        )}
        <Button
          variant="primary"
          disabled={!isRead}
          onClick={() => void attempt(() => client.call(`PUT ${path}`, { params, body: { reason } }))}
        >
          {words.set}
        </Button>
      </div>
    </Dialog>
  );
}
