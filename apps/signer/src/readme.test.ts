import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listAuditedFiles } from "../list-audited-files.ts";
import { withAuditedFiles } from "../with-audited-files.ts";

test("the README lists every file that an audit of the signer must read (if not, run `pnpm generate`)", () => {
	const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
	expect(readme).toBe(withAuditedFiles(readme));
});

test("the list has the policy, the places of keys with their processes, and what both take from protocol", () => {
	const paths = listAuditedFiles().map(({ path }) => path);
	expect(paths).toEqual(
		expect.arrayContaining([
			"apps/signer/src/policy/judge-relayer.ts",
			"apps/signer/src/command/check-command.ts",
			"packages/keys/src/backend/pkcs11/pkcs11-process.ts",
			"packages/keys/src/backend/aws-kms.ts",
			"packages/protocol/src/evm/encode-bundle.ts",
			"packages/protocol/src/order.ts",
		]),
	);
	expect(paths.filter((path) => !/^(apps\/signer|packages\/(keys|protocol))\/src\//.test(path))).toEqual([]);
	expect(paths).not.toContain("packages/protocol/src/error-code.test.ts");
});
