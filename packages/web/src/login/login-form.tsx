import { useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";
import { exchange } from "./exchange.ts";
import { ProviderButton, useProviderName } from "./provider-button.tsx";

/** The key is exchanged for a login and not stored. Another user than before gets a fresh page. */
export function LoginForm({ problem: given = null }: { readonly problem?: string | null }) {
  const words = useMoreWords().login;
  const { client, login } = useServices();
  const provider = useProviderName();
  const [key, setKey] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState(given);
  const enter = async (): Promise<void> => {
    setIsBusy(true);
    setProblem(null);
    try {
      const { proof, user_id: user } = await exchange(client, { key: key.trim() });
      setKey("");
      if (!login.enter(proof, user)) location.reload();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : words.failed);
    }
    setIsBusy(false);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void enter();
      }}
    >
      {problem !== null && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {problem}
        </p>
      )}
      {provider !== null && <ProviderButton name={provider} />}
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
      <Button
        type="submit"
        variant={provider === null ? "primary" : "plain"}
        className="w-full justify-center"
        disabled={isBusy || key.trim() === ""}
      >
        {words.enter}
      </Button>
    </form>
  );
}
