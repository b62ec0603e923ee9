import type { WebhookTrigger } from "@convoke/protocol";
import { useState } from "react";
import { serverAddress } from "../lib/server-address.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { inputClass } from "../ui/field.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type HookBoxProps = {
  readonly id: string;
  readonly trigger: WebhookTrigger;
  /** Null unless it was made just now. */
  readonly secret: string | null;
  readonly onRenew: () => void;
};

/** Where the sender posts, and its secret while that is known here. */
export function HookBox({ id, trigger, secret, onRenew }: HookBoxProps) {
  const { hook: words } = useMoreWords().automations;
  const { common } = useWords();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <section aria-label={words.title} className="mb-5 rounded-md border border-line bg-raised px-3 py-2.5">
      <p className="mb-2 text-sm text-soft">{words.setUp[trigger.form]}</p>
      <Copied
        label={words.address}
        copy={words.copyAddress}
        text={`${serverAddress(document.baseURI)}/api/automations/${id}/hook`}
      />
      {secret === null ? (
        <Button className="mt-1" onClick={() => setIsAsking(true)}>
          {`${words.renew} …`}
        </Button>
      ) : (
        <div role="status">
          <Copied label={words.secret} copy={words.copySecret} text={secret} />
          <p className="text-xs text-warn">{words.once}</p>
        </div>
      )}
      {isAsking && (
        <Dialog title={words.renewTitle} onClose={() => setIsAsking(false)} width="w-[24rem]">
          <p className="mb-4 text-sm text-soft">{words.renewText}</p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setIsAsking(false)}>{common.cancel}</Button>
            <Button
              variant="primary"
              onClick={() => {
                setIsAsking(false);
                onRenew();
              }}
            >
              {words.renew}
            </Button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

type CopiedProps = { readonly label: string; readonly copy: string; readonly text: string };

function Copied({ label, copy, text }: CopiedProps) {
  return (
    <label className="mb-2 block">
      <span className="mb-1 block text-sm font-medium text-soft">{label}</span>
      <span className="flex items-center gap-2">
        <input
          readOnly
          value={text}
          className={`${inputClass} font-mono text-xs`}
          onFocus={(event) => event.target.select()}
        />
        <CopyButton text={text} label={copy} />
      </span>
    </label>
  );
}
