import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { createDelegatedWallets } from "./delegated-wallets.ts";

const address = "0xAbCdEf0000000000000000000000000000000001";

test("a wallet is known as its last build found it, on that chain only, however its address is written", () => {
	const wallets = createDelegatedWallets();
	expect(wallets.has({ chainId: 1, address })).toBe(false);
	wallets.learn({ chainId: 1, address, isDelegated: true });
	expect(wallets.has({ chainId: 1, address: address.toLowerCase() })).toBe(true);
	expect(wallets.has({ chainId: 2, address })).toBe(false);
	wallets.learn({ chainId: 1, address, isDelegated: false });
	expect(wallets.has({ chainId: 1, address })).toBe(false);
});

test("the wallets that were built for longest ago are forgotten first", () => {
	const wallets = createDelegatedWallets({ most: 2 });
	for (const chainId of [1, 2, 1, 3]) wallets.learn({ chainId, address: zeroAddress, isDelegated: true });
	expect([1, 2, 3].map((chainId) => wallets.has({ chainId, address: zeroAddress }))).toEqual([
		true,
		false,
		true,
	]);
});
