import { useState } from "react";
import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { describeBrowser } from "./describe-browser.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { useResource } from "./use-resource.ts";

/** API keys and browser logins. A new key is shown once. The local user sees all keys and creates keys for others. */
export function KeysSection() {
  const words = useMoreWords().settings.keys;
  const { common } = useWords();
  const { client, language, login: own } = useServices();
  const isLocal = own.user === null || own.user === "local";
  const keys = useResource("GET /api/keys");
  const logins = useResource("GET /api/auth/logins");
  const [draft, setDraft] = useState({ label: "", user: "" });
  const [made, setMade] = useState<string | null>(null);
  const make = async (): Promise<void> => {
    const user = draft.user.trim();
    const body = { label: draft.label.trim(), ...(user === "" ? {} : { user }) };
    const isMade = await keys.change(async () => {
      const { key } = await client.call("POST /api/keys", { body });
      setMade(key);
    });
    if (isMade) setDraft({ label: "", user: "" });
  };
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={keys.problem ?? logins.problem} />
      {made !== null && (
        <div role="status" className="mb-4 rounded-md border border-accent px-3 py-2 text-sm">
          <p className="mb-1">{words.once}</p>
          <p className="flex items-center gap-2">
            <code className="min-w-0 grow font-mono text-xs break-all">{made}</code>
            <CopyButton text={made} />
          </p>
        </div>
      )}
      <h3 className="mb-1 font-medium">{words.keys}</h3>
      <Entries isEmpty={keys.value?.keys.length === 0} empty={words.none}>
        {keys.value?.keys.map((key) => (
          <Entry
            key={key.id}
            title={key.label || key.id}
            detail={`${key.user_id}, ${words.roles[key.role]}`}
            note={
              <span className="text-xs text-faint">
                {key.last_used_at === null
                  ? words.unused
                  : words.lastUsed(exactTime(key.last_used_at, language))}
                {key.expires_at != null && `, ${words.expires(exactTime(key.expires_at, language))}`}
              </span>
            }
          >
            {key.is_current ? (
              <span className="text-xs text-faint">{words.current}</span>
            ) : (
              <Button
                variant="quiet"
                onClick={() =>
                  void keys.change(() =>
                    client.call("DELETE /api/keys/{key_id}", { params: { key_id: key.id } }),
                  )
                }
              >
                {words.end}
              </Button>
            )}
          </Entry>
        ))}
      </Entries>
      <h3 className="mb-1 font-medium">{words.logins}</h3>
      <Entries isEmpty={logins.value?.logins.length === 0} empty={words.noLogins}>
        {logins.value?.logins.map((login) => (
          <Entry
            key={login.id}
            title={login.is_current ? words.thisBrowser : describeBrowser(login.client) || words.browser}
            detail={login.address}
            note={
              <span className="text-xs text-faint">
                {words.lastUsed(exactTime(login.last_used_at, language))}
              </span>
            }
          >
            {!login.is_current && (
              <Button
                variant="quiet"
                onClick={() =>
                  void logins.change(() =>
                    client.call("DELETE /api/auth/logins/{login_id}", { params: { login_id: login.id } }),
                  )
                }
              >
                {words.end}
              </Button>
            )}
          </Entry>
        ))}
      </Entries>
      <Form title={words.add} onSubmit={() => void make()}>
        <TextField
          label={words.label}
          hint={words.labelHint}
          value={draft.label}
          onChange={(label) => setDraft({ ...draft, label })}
        />
        {isLocal && (
          <TextField
            label={words.user}
            hint={words.userHint}
            value={draft.user}
            onChange={(user) => setDraft({ ...draft, user })}
          />
        )}
        <Button type="submit" variant="primary">
          {common.add}
        </Button>
      </Form>
    </>
  );
}
