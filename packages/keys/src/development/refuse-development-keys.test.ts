import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { refuseDevelopmentKeys } from "./refuse-development-keys.ts";

const firstOfAnvil = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const newAddress = () => privateKeyToAddress(generatePrivateKey());

test("a well-known key is accepted only on local chains", () => {
	expect(() => refuseDevelopmentKeys([firstOfAnvil], [31337, 31338])).not.toThrow();
	expect(() => refuseDevelopmentKeys([newAddress()], [31337, 1])).not.toThrow();
	expect(() => refuseDevelopmentKeys([newAddress(), firstOfAnvil], [31337, 1])).toThrow("on chain 1");
});
