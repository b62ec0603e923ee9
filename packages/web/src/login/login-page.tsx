import { useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";
import { exchange } from "./exchange.ts";

/** Where somebody arrives without a login: a key is exchanged for one and forgotten. */
export default function LoginPage({ hasFailed }: { readonly hasFailed: boolean }) {
  const words = useMoreWords().login;
  const { client, login } = useServices();
  const [key, setKey] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(hasFailed ? words.linkUsed : null);
  const enter = async (): Promise<void> => {
    setIsBusy(true);
    setProblem(null);
    try {
      const proof = await exchange(client, { key: key.trim() });
      setKey("");
      login.enter(proof);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : words.failed);
    }
    setIsBusy(false);
  };
  return (
    <main className="flex h-dvh items-center justify-center px-4">
      <form
        className="w-full max-w-80"
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <h1 className="mb-1 text-xl font-semibold">{words.title}</h1>
        <p className="mb-4 text-sm text-soft">{words.explanation}</p>
        <Field label={words.key}>
          {(id) => (
            <input
              id={id}
              type="password"
              autoComplete="off"
              className={inputClass}
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        {problem !== null && (
          <p role="alert" className="mb-3 text-sm text-bad">
            {problem}
          </p>
        )}
        <Button
          type="submit"
          look="primary"
          className="w-full justify-center"
          disabled={isBusy || key.trim() === ""}
        >
          {words.enter}
        </Button>
      </form>
    </main>
  );
}
