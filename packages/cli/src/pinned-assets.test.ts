import { expect, test } from "vitest";
import { pins } from "../test/fake-service.ts";
import { findAsset, findChain } from "./pinned-assets.ts";

const [one] = pins.chains;
const usdc = one?.settlementToken ?? "";

test("a chain is found by its id, and by its name in any case with dashes for spaces", () => {
	for (const text of ["31337", "Chain 31337", "chain-31337", "CHAIN_31337"]) {
		expect(findChain(pins, text).chainId).toBe(31337);
	}
	expect(findChain(pins, "solana").kind).toBe("solana");
});

test("the error for a chain that is not pinned lists the pinned chains", () => {
	expect(() => findChain(pins, "base")).toThrow(
		"chain-31337 (31337), chain-31338 (31338), solana (792703809)",
	);
	expect(() => findChain(pins, "313")).toThrow('no chain "313"');
});

test("a name that two chains share is refused", () => {
	const twins = { ...pins, chains: pins.chains.map((chain) => ({ ...chain, name: "Twin" })) };
	expect(() => findChain(twins, "twin")).toThrow("several chains");
	expect(findChain(twins, "31338").chainId).toBe(31338);
});

test("a token is found by its symbol or its address, and its address comes from the pins", () => {
	for (const text of ["USDC", "usdc", usdc, usdc.toLowerCase()]) {
		expect(findAsset(pins, "--from", `31337:${text}`)).toMatchObject({ address: usdc, decimals: 6 });
	}
	expect(findAsset(pins, "--to", "solana:SOL")).toMatchObject({ isNative: true, decimals: 9 });
});

test("the error for an unknown symbol lists the tokens of the chain", () => {
	for (const text of ["USDT", "USD", "USDCC", "US DC", "ETH"]) {
		expect(() => findAsset(pins, "--from", `31337:${text}`)).toThrow(`It has: USDC (${usdc})`);
	}
	// Base58 is case-sensitive, so another spelling is another address.
	const [mint = ""] = (pins.solana?.assets ?? []).map(({ address }) => String(address));
	expect(mint.toUpperCase()).not.toBe(mint);
	expect(() => findAsset(pins, "--from", `solana:${mint.toUpperCase()}`)).toThrow("has no token");
});

test("if two symbols differ only in case, only an exact match is accepted", () => {
	const [asset] = one?.assets ?? [];
	if (!one || !asset) throw new Error("one asset is pinned");
	const other = { ...asset, symbol: "uSDC", address: one.wrappedNative };
	const alike = { ...pins, chains: [{ ...one, assets: [asset, other] }] };
	expect(findAsset(alike, "--from", "31337:uSDC").address).toBe(one.wrappedNative);
	expect(() => findAsset(alike, "--from", "31337:usdc")).toThrow("several tokens");
});

test.each(["USDC", ":USDC", "31337:", ""])("%s is not <chain>:<token>", (text) => {
	expect(() => findAsset(pins, "--from", text)).toThrow("<chain>:<token>");
});
