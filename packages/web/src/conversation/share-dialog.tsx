import type { CreatedShare, Share } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";

const shares = "/api/conversations/{conversation_id}/shares";
const daySeconds = 24 * 60 * 60;
const dayChoices = [1, 7, 30, 365] as const;

/** Makes links to read a conversation, and ends them. */
export default function ShareDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { share: words } = useMoreWords();
  const { client, logs, language } = useServices();
  const [days, setDays] = useState<number>(7);
  const [endsNow, setEndsNow] = useState(false);
  const [hasPrompt, setHasPrompt] = useState(false);
  const [label, setLabel] = useState("");
  const [made, setMade] = useState<CreatedShare | null>(null);
  const [list, setList] = useState<readonly Share[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const attempt = useCallback(async (act: () => Promise<void>): Promise<void> => {
    setProblem(null);
    setIsBusy(true);
    try {
      await act();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setIsBusy(false);
  }, []);
  const params = { conversation_id: id };
  const read = useCallback(async (): Promise<void> => {
    setList((await client.call(`GET ${shares}`, { params: { conversation_id: id } })).shares);
  }, [client, id]);
  useEffect(() => void attempt(read), [attempt, read]);
  const make = async (): Promise<void> => {
    const lastEventId = logs.get(id).view.snapshot().lastEventId;
    const body = {
      expires_in_seconds: days * daySeconds,
      label: label.trim(),
      include_system_prompt: hasPrompt,
      ...(endsNow && lastEventId !== null ? { up_to_event_id: lastEventId } : {}),
    };
    setMade(await client.call(`POST ${shares}`, { params, body }));
    setLabel("");
    await read();
  };
  const revoke = async (share: Share): Promise<void> => {
    await client.call(`DELETE ${shares}/{share_id}`, { params: { ...params, share_id: share.id } });
    if (made?.id === share.id) setMade(null);
    await read();
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      <p className="mb-3 text-sm text-soft">{words.about}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(make);
        }}
      >
        <div className="grid gap-x-3 min-[721px]:grid-cols-[3fr_2fr]">
          <Field label={words.extent}>
            {(field) => (
              <select
                id={field}
                className={inputClass}
                value={endsNow ? "now" : "whole"}
                onChange={(event) => setEndsNow(event.target.value === "now")}
              >
                <option value="whole">{words.whole}</option>
                <option value="now">{words.upToNow}</option>
              </select>
            )}
          </Field>
          <Field label={words.howLong}>
            {(field) => (
              <select
                id={field}
                className={inputClass}
                value={days}
                onChange={(event) => setDays(Number(event.target.value))}
              >
                {dayChoices.map((count) => (
                  <option key={count} value={count}>
                    {words.days(count)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <Field label={words.label}>
          {(field) => (
            <input
              id={field}
              className={inputClass}
              value={label}
              maxLength={200}
              onChange={(event) => setLabel(event.target.value)}
            />
          )}
        </Field>
        <label className="mb-3 flex items-center gap-2 text-sm pointer-coarse:min-h-11">
          <input
            type="checkbox"
            className="size-4 shrink-0 accent-accent-fill"
            checked={hasPrompt}
            onChange={(event) => setHasPrompt(event.target.checked)}
          />
          {words.withPrompt}
        </label>
        <div className="flex justify-end">
          <Button type="submit" variant="primary" disabled={isBusy}>
            {words.make}
          </Button>
        </div>
      </form>
      <Problem text={problem} className="mt-3" />
      {made !== null && (
        <div role="status" className="mt-3 rounded-md border border-line bg-raised px-3 py-2">
          <p className="mb-1 text-xs text-soft">{words.once}</p>
          <div className="flex items-center gap-2">
            <input
              readOnly
              aria-label={words.link}
              className={`${inputClass} font-mono text-xs`}
              value={made.url}
              onFocus={(event) => event.target.select()}
            />
            <CopyButton text={made.url} label={words.copy} />
          </div>
        </div>
      )}
      {list.length > 0 && (
        <>
          <h3 className="mt-4 mb-1 text-sm font-medium text-soft">{words.links}</h3>
          <ul className="lines">
            {list.map((share) => (
              <li key={share.id} className="flex items-center gap-3 py-1.5">
                <span className="min-w-0 grow">
                  <span className="block truncate text-sm">{share.label || words.unnamed}</span>
                  <span className="block text-xs text-faint">
                    {words.entry(
                      [
                        share.up_to_event_id === null ? words.whole : words.part,
                        ...(share.include_system_prompt ? [words.prompt] : []),
                      ].join(", "),
                      exactTime(share.expires_at, language),
                    )}
                  </span>
                </span>
                <Button
                  variant="danger"
                  disabled={isBusy}
                  aria-label={`${words.revoke}: ${share.label || words.unnamed}`}
                  onClick={() => void attempt(() => revoke(share))}
                >
                  {words.revoke}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
