import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { orderTypedData } from "@geoswap/protocol";
import { expect, test } from "vitest";
import { account, makeBuild, makeOrder } from "../test/op-fixture.ts";

// Readers run the example to check the service. It must print what the SDK computes, and what the page states.
test("the example in docs/signing.md computes the SDK's hash and signatures, and prints the output shown on the page", async () => {
	const cwd = join(import.meta.dirname, "..");
	const page = readFileSync(join(cwd, "../../docs/signing.md"), "utf8");
	const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
	const printed = /It prints\n\n```\n([\s\S]*?)```/.exec(page)?.[1];
	const output = execFileSync(process.execPath, ["--input-type=module-typescript", "-"], {
		cwd,
		input: example,
		encoding: "utf8",
	});
	expect(output).toBe(printed);
	const { geoOp, geoOpHash } = makeBuild();
	const typed = await account.signTypedData(orderTypedData(makeOrder()));
	const personal = await account.signMessage({ message: { raw: geoOpHash as `0x${string}` } });
	expect(output).toBe(
		`orderId    ${geoOp.orderId}\ngeoOpHash  ${geoOpHash}\ntyped      ${typed}\npersonal   ${personal}\n`,
	);
});
