/** Vite makes a file of its own of such a module; this is where it lies. */
declare module "*?worker&url" {
  const address: string;
  export default address;
}
