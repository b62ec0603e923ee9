import { useEffect } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { pushTo } from "./browser-push.ts";
import { newsKinds, readWishes } from "./notification-wishes.ts";

/** A page that opens renews what its browser is told: addresses, logins and languages change while no page is open. */
export default function PushRefresh() {
  const { kinds } = useMoreWords().settings.notifications;
  const { client, keep } = useServices();
  useEffect(() => {
    const wishes = readWishes(keep);
    const wanted = newsKinds.filter((kind) => wishes[kind]);
    pushTo({ client, keep }, wanted, kinds).catch((error: unknown) => {
      // Nothing that the page needs; the settings say it to who looks there.
      console.warn("The push subscription could not be renewed.", error);
    });
  }, [client, keep, kinds]);
  return null;
}
