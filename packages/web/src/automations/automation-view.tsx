import type { CreatedAutomation } from "@convoke/protocol";
import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { AutomationActions, useAttempt } from "./automation-actions.tsx";
import { AutomationForm } from "./automation-form.tsx";
import { describeTrigger } from "./describe-trigger.ts";
import { HookBox } from "./hook-box.tsx";
import { RunHistory } from "./run-history.tsx";
import { shownDue } from "./shown-due.ts";
import { useAutomation } from "./use-automation.ts";
import { one } from "./use-refreshed.ts";

type AutomationViewProps = {
  readonly id: string;
  /** The webhook's secret, if it was made since the page was opened. */
  readonly secret: string | null;
  readonly onSecret: (id: string, secret: string) => void;
};

/** One automation: when it starts next, what it has started, and its form. */
export function AutomationView({ id, secret, onSecret }: AutomationViewProps) {
  const words = useMoreWords().automations;
  const { client, language } = useServices();
  const [, navigate] = useLocation();
  const isEditing = useSearch() === "edit";
  const { automation, dueTimes, runs, problem, more, reload } = useAutomation(id);
  const { problem: failure, isBusy, attempt } = useAttempt();
  const [isDeleting, setIsDeleting] = useState(false);
  const params = { automation_id: id };
  if (automation === null) return <Problem text={problem} />;
  const renew = async (): Promise<void> => {
    const { hook_secret: made } = await client.call(`POST ${one}/hook_secret`, { params });
    onSecret(id, made);
  };
  const remove = async (): Promise<void> => {
    await client.call(`DELETE ${one}`, { params });
    navigate("/automations");
  };
  if (isEditing) {
    return (
      <>
        <h1 className="mb-3 text-xl font-semibold">{words.edit}</h1>
        <AutomationForm
          stored={automation}
          onDone={(saved) => {
            if (hasSecret(saved)) onSecret(id, saved.hook_secret);
            void attempt(reload);
            navigate(`/automations/${id}`);
          }}
          onCancel={() => navigate(`/automations/${id}`)}
        />
      </>
    );
  }
  const { trigger } = automation;
  const timeZone = trigger.kind === "cron" ? trigger.time_zone : undefined;
  return (
    <>
      <h1 className="text-xl font-semibold break-words">{automation.name}</h1>
      <p className="mb-3 text-sm text-soft">{describeTrigger(trigger, words, language)}</p>
      <div className="mb-4 flex flex-wrap gap-2">
        <AutomationActions automation={automation} isBusy={isBusy} attempt={attempt} onChanged={reload} />
        <Button onClick={() => navigate(`/automations/${id}?edit`)}>{words.change}</Button>
        <Button variant="danger" onClick={() => setIsDeleting(true)}>
          {`${words.delete} …`}
        </Button>
      </div>
      <Problem text={failure ?? problem} />
      {automation.is_paused && (
        <p className="mb-4 rounded-md bg-warn-wash px-3 py-1.5 text-sm text-warn">{words.pausedNote}</p>
      )}
      {trigger.kind === "webhook" && (
        <HookBox id={id} trigger={trigger} secret={secret} onRenew={() => void attempt(renew)} />
      )}
      {dueTimes.length > 0 && (
        <section aria-label={words.due} className="mb-5 rounded-md bg-sunken px-3 py-2 text-sm">
          <h2 className="font-medium text-soft">{words.due}</h2>
          <ul className="tabular-nums">
            {dueTimes.map((at) => (
              <li key={at}>
                <time dateTime={at}>{shownDue(at, language, timeZone)}</time>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-label={words.promptTitle} className="mb-5">
        <h2 className="mb-1 text-lg font-semibold">{words.promptTitle}</h2>
        <p className="max-h-40 overflow-y-auto text-sm whitespace-pre-wrap text-soft">{automation.prompt}</p>
      </section>
      <RunHistory runs={runs} onMore={() => void attempt(more)} />
      {isDeleting && (
        <DeleteDialog onClose={() => setIsDeleting(false)} onDelete={() => void attempt(remove)} />
      )}
    </>
  );
}

type DeleteDialogProps = { readonly onClose: () => void; readonly onDelete: () => void };

function DeleteDialog({ onClose, onDelete }: DeleteDialogProps) {
  const words = useMoreWords().automations;
  const { common } = useWords();
  return (
    <Dialog title={words.deleteTitle} onClose={onClose} width="w-[24rem]">
      <p className="mb-4 text-sm text-soft">{words.deleteText}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button
          variant="danger"
          onClick={() => {
            onClose();
            onDelete();
          }}
        >
          {words.delete}
        </Button>
      </div>
    </Dialog>
  );
}

function hasSecret(saved: object): saved is CreatedAutomation & { readonly hook_secret: string } {
  return "hook_secret" in saved && typeof saved.hook_secret === "string";
}
