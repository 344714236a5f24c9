import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { createDelegatedWallets } from "./delegated-wallets.ts";

const address = "0xAbCdEf0000000000000000000000000000000001";

test("a wallet's delegation is cached from its last build, for that chain only, regardless of the case of its address", () => {
	const wallets = createDelegatedWallets();
	expect(wallets.has({ chainId: 1, address })).toBe(false);
	wallets.learn({ chainId: 1, address, isDelegated: true });
	expect(wallets.has({ chainId: 1, address: address.toLowerCase() })).toBe(true);
	expect(wallets.has({ chainId: 2, address })).toBe(false);
	wallets.learn({ chainId: 1, address, isDelegated: false });
	expect(wallets.has({ chainId: 1, address })).toBe(false);
});

test("the wallets with the oldest builds are evicted first", () => {
	const wallets = createDelegatedWallets({ most: 2 });
	for (const chainId of [1, 2, 1, 3]) wallets.learn({ chainId, address: zeroAddress, isDelegated: true });
	expect([1, 2, 3].map((chainId) => wallets.has({ chainId, address: zeroAddress }))).toEqual([
		true,
		false,
		true,
	]);
});
