import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";
import { matchingModels, modelOptions, type ModelOption } from "../lib/model-options.ts";

type ModelFieldProps = {
  readonly value: string;
  readonly onChange: (model: string) => void;
  readonly onChoose: (option: ModelOption) => void;
};

/** The name of a model with a searchable list: models on the server's machine, then the catalogue. Any other name can be typed. */
export function ModelField({ value, onChange, onChoose }: ModelFieldProps) {
  const { models: words } = useMoreWords().settings;
  const options = useModelOptions();
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const found = useMemo(() => (isOpen ? matchingModels(options, value) : []), [isOpen, options, value]);
  const at = Math.min(active, found.length - 1);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const choose = (option: ModelOption): void => {
    setOpen(false);
    onChoose(option);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = found[at];
    if (step !== undefined) {
      setOpen(true);
      setActive((at + step + Math.max(1, found.length)) % Math.max(1, found.length));
    } else if (event.key === "Enter" && chosen !== undefined) choose(chosen);
    else if (event.key === "Escape" && isOpen) setOpen(false);
    else return;
    event.preventDefault();
  };
  return (
    <Field label={words.model} hint={words.modelHint}>
      {(id, describedBy) => (
        <div className="relative">
          <input
            id={id}
            aria-describedby={describedBy}
            role="combobox"
            aria-expanded={found.length > 0}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={at >= 0 ? `${listId}-${at}` : undefined}
            autoComplete="off"
            spellCheck={false}
            required
            className={inputClass}
            value={value}
            onFocus={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onChange={(event) => {
              setOpen(true);
              setActive(-1);
              onChange(event.target.value);
            }}
            onKeyDown={onKeyDown}
          />
          <div
            ref={list}
            id={listId}
            role="listbox"
            aria-label={words.model}
            hidden={found.length === 0}
            className="absolute inset-x-0 top-full z-10 mt-1 max-h-[40dvh] overflow-y-auto rounded-md border border-line bg-canvas p-1 shadow-lg"
          >
            {found.map((option, index) => (
              // The text field handles its keys and keeps the focus.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={`${option.server ?? ""} ${option.model}`}
                id={`${listId}-${index}`}
                role="option"
                aria-selected={index === at}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(option)}
                className="flex cursor-pointer items-center gap-3 rounded px-2 py-1 text-sm hover:bg-hover aria-selected:bg-hover pointer-coarse:min-h-11"
              >
                <span className="min-w-0 grow font-mono text-xs break-all">{visibleText(option.model)}</span>
                <span className="shrink-0 text-xs text-faint">{noteOf(option, words)}</span>
              </div>
            ))}
          </div>
        </div>
      )}
    </Field>
  );
}

function noteOf(
  { server, isVerified }: ModelOption,
  words: { readonly onThisMachine: (server: string) => string; readonly verified: string },
): string {
  if (server !== null) return words.onThisMachine(server);
  return isVerified ? words.verified : "";
}

/** What can be chosen; empty until the server has answered. A list that cannot be read offers nothing: the name can be typed. */
function useModelOptions(): readonly ModelOption[] {
  const { client } = useServices();
  const [options, setOptions] = useState<readonly ModelOption[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    void Promise.all([
      client.call("GET /api/llm/local-servers", { signal }),
      client.call("GET /api/llm/models/verified", { signal }),
      client.call("GET /api/llm/models", { signal }),
    ])
      .then((lists) => setOptions(modelOptions(...lists)))
      .catch((error: unknown) => {
        if (!signal.aborted) console.warn("The list of models could not be read.", error);
      });
    return () => stop.abort();
  }, [client]);
  return options;
}
