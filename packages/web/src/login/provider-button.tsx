import { useEffect, useState } from "react";
import { pagePrefix, serverAddress } from "../lib/server-address.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { providerAddress } from "./provider-address.ts";

/** The name of the server's identity provider; null where there is none, and before the server has said so. */
export function useProviderName(): string | null {
  const { client } = useServices();
  const [name, setName] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    client.call("GET /api/auth/methods", { signal: stop.signal }).then(
      ({ oidc }) => setName(oidc?.name ?? null),
      // A server that does not answer says so when a key is sent.
      () => {},
    );
    return () => stop.abort();
  }, [client]);
  return name;
}

/** The way to the identity provider, above the key. */
export function ProviderButton({ name }: { readonly name: string }) {
  const words = useMoreWords().login;
  const leave = (): void => {
    const prefix = pagePrefix(document.baseURI);
    location.assign(providerAddress(serverAddress(document.baseURI), prefix, location));
  };
  return (
    <>
      <Button variant="primary" className="w-full justify-center" onClick={leave}>
        <span className="truncate">{words.signInWith(name)}</span>
      </Button>
      <p className="my-3 flex items-center gap-2 text-xs text-faint before:h-px before:grow before:bg-line after:h-px after:grow after:bg-line">
        {words.orKey}
      </p>
    </>
  );
}
