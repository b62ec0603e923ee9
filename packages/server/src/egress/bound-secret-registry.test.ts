import { createBoundSecretRegistry } from "./bound-secret-registry.ts";
import { testBoundSecretRegistry } from "./testing/bound-secret-registry-contract.ts";

testBoundSecretRegistry(createBoundSecretRegistry);
