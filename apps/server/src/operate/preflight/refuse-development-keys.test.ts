import type { Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { expect, test } from "vitest";
import { refuseDevelopmentKeys } from "./refuse-development-keys.ts";

const firstOfAnvil: Hex = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

test("a well-known key is accepted only on local chains", () => {
	expect(() => refuseDevelopmentKeys([firstOfAnvil], [31337, 31338])).not.toThrow();
	expect(() => refuseDevelopmentKeys([generatePrivateKey()], [31337, 1])).not.toThrow();
	const shouted = firstOfAnvil.toUpperCase().replace("0X", "0x") as Hex;
	for (const key of [firstOfAnvil, shouted]) {
		expect(() => refuseDevelopmentKeys([generatePrivateKey(), key], [31337, 1])).toThrow("on chain 1");
	}
});
