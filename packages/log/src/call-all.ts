/** What listeners hear of is so whatever they do. A fault of theirs is not swallowed, but thrown outside. */
export function callAll<Listener>(
  listeners: ReadonlySet<Listener>,
  call: (listener: Listener) => void,
): void {
  for (const listener of listeners) {
    try {
      call(listener);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
