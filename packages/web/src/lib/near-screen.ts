/** How far outside of what is shown of its scroller an element counts as near. */
const margin = "400px";

const seenBy = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | null = null;

/** Tells, until the function that it returns is called, when an element comes near the screen and when it leaves. */
export function watchNearness(element: Element, onChange: (isNear: boolean) => void): () => void {
  observer ??= openObserver();
  const watching = observer;
  seenBy.set(element, onChange);
  watching.observe(element);
  return () => {
    watching.unobserve(element);
    seenBy.delete(element);
  };
}

function openObserver(): IntersectionObserver {
  // A margin of the scroller, not of the window; browsers that do not know it tell when an element is on the screen.
  const options: IntersectionObserverInit & { readonly scrollMargin: string } = { scrollMargin: margin };
  return new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seenBy.get(target)?.(isIntersecting);
  }, options);
}
