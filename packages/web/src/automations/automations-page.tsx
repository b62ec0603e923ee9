import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useMoreWords } from "../words/words.ts";
import { AutomationForm } from "./automation-form.tsx";
import { AutomationListView } from "./automation-list.tsx";
import { AutomationView } from "./automation-view.tsx";

type AutomationsPageProps = {
  /** An id, or `new`; undefined for the list. */
  readonly of: string | undefined;
};

/** The automations of the caller, one of them, or the form of a new one. */
export default function AutomationsPage({ of }: AutomationsPageProps) {
  const words = useMoreWords().automations;
  const [, navigate] = useLocation();
  // The server tells each only once.
  const [secrets, setSecrets] = useState<ReadonlyMap<string, string>>(new Map());
  const addSecret = (id: string, secret: string): void => setSecrets(new Map([...secrets, [id, secret]]));
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-[52rem] px-5 py-5 max-[720px]:px-3">
        {of !== undefined && (
          <Link
            href="/automations"
            className="mb-2 inline-block text-sm text-soft underline-offset-2 hover:underline pointer-coarse:py-2.5"
          >
            {`← ${words.back}`}
          </Link>
        )}
        {of === undefined ? (
          <AutomationListView />
        ) : of === "new" ? (
          <>
            <h1 className="mb-3 text-xl font-semibold">{words.new}</h1>
            <AutomationForm
              stored={null}
              onDone={(created) => {
                if ("hook_secret" in created && created.hook_secret !== null)
                  addSecret(created.id, created.hook_secret);
                navigate(`/automations/${created.id}`);
              }}
              onCancel={() => navigate("/automations")}
            />
          </>
        ) : (
          <AutomationView key={of} id={of} secret={secrets.get(of) ?? null} onSecret={addSecret} />
        )}
      </div>
    </div>
  );
}
