import { useId, useState } from "react";
import { asRecord, textAt } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";

const themes = ["system", "light", "dark"] as const;
/** Each language by its own name. */
const languages = { en: "English", de: "Deutsch" } as const;

const selectClass =
  "h-8 w-56 rounded-md border border-edge bg-canvas px-2 pointer-coarse:h-11 pointer-coarse:text-[16px]";

/** Appearance of the page in this browser. */
export function AppearanceSection() {
  const words = useMoreWords().settings.appearance;
  const { client, storage, login } = useServices();
  const [appearance, setAppearance] = useState(() => asRecord(storage.read("look")) ?? {});
  const hintId = useId();
  const [hasKeys, setHasKeys] = useState(() => storage.read("keys") !== false);
  const change = (name: string, value: string): void => {
    const next = { ...appearance, [name]: value };
    setAppearance(next);
    storage.write("look", next);
    if (name === "language") {
      // Texts are loaded at startup.
      location.reload();
      return;
    }
    if (value === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = value;
  };
  const logOut = async (): Promise<void> => {
    let reply;
    try {
      reply = await client.call("POST /api/auth/logout");
    } finally {
      login.leave();
    }
    // The provider sends the browser back to the page's login.
    if (reply !== undefined) location.assign(reply.provider_url);
  };
  return (
    <div className="mt-3 max-w-md">
      <Field label={words.theme}>
        {(id) => (
          <select
            id={id}
            className={selectClass}
            value={textAt(appearance, "theme") || "system"}
            onChange={(event) => change("theme", event.target.value)}
          >
            {themes.map((theme) => (
              <option key={theme} value={theme}>
                {words.themes[theme]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={words.language}>
        {(id) => (
          <select
            id={id}
            className={selectClass}
            value={document.documentElement.lang.startsWith("de") ? "de" : "en"}
            onChange={(event) => change("language", event.target.value)}
          >
            {Object.entries(languages).map(([language, name]) => (
              <option key={language} value={language} lang={language}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <label className="flex items-center gap-2 pointer-coarse:min-h-11">
        <input
          type="checkbox"
          aria-describedby={hintId}
          className="size-4 shrink-0 accent-accent-fill"
          checked={hasKeys}
          onChange={(event) => {
            setHasKeys(event.target.checked);
            storage.write("keys", event.target.checked);
          }}
        />
        {words.keys}
      </label>
      <p id={hintId} className="mt-1 text-xs text-faint">
        {words.keysHint}
      </p>
      {login.proof !== null && (
        <Button className="mt-4" onClick={() => void logOut()}>
          {words.logOut}
        </Button>
      )}
    </div>
  );
}
