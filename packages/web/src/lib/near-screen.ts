/** Distance from the visible part of the scroller that counts as near. */
const margin = "400px";

const seenBy = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | null = null;

/** Calls back when an element comes near the screen and when it leaves, until the returned function is called. */
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
  // A margin of the scroller, not of the window; older browsers ignore it and use the visible area.
  const options: IntersectionObserverInit & { readonly scrollMargin: string } = { scrollMargin: margin };
  return new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seenBy.get(target)?.(isIntersecting);
  }, options);
}
