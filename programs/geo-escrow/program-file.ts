import { join } from "node:path";
import record from "./geo_escrow.json" with { type: "json" };

/** The path of the built program. */
export const programFile = join(import.meta.dirname, "geo_escrow.so");

/** The size of the built program and the SHA-256 of its bytes, which attesters compare with the deployed program's. */
export const programCode = { bytes: record.bytes, sha256: `0x${record.sha256}` } as const;
