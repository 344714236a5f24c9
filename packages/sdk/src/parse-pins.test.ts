import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makePins } from "../test/solana-op-fixture.ts";
import { parsePins } from "./parse-pins.ts";

const pins = makePins();
const clone = () => JSON.parse(JSON.stringify(pins));

test("parsePins accepts a server's deployment file unchanged", () => {
	expect(parsePins(clone())).toEqual({ pins, unread: [] });
});

test("a deployment file of an earlier version is accepted", () => {
	const file = new URL("../../protocol/vectors/deployment-without-pyth.json", import.meta.url);
	const earlier = JSON.parse(readFileSync(file, "utf8"));
	expect(parsePins(earlier)).toEqual({ pins: earlier, unread: [] });
});

test("a deployment file of a newer version, with new fields everywhere and without fields of servers, is accepted", () => {
	const file = clone();
	file.madeBy = "a newer version";
	for (const chain of [...file.chains, file.solana]) {
		chain.sequencer = { feed: "0x01" };
		chain.kind &&= "a-newer-kind";
		delete chain.uniswap;
		for (const asset of chain.assets) {
			asset.prices = ["pyth"];
			delete asset.feed;
		}
	}
	const read = parsePins(file);
	expect(read.unread).toEqual([]);
	expect(read.pins.chains.map(({ contracts }) => contracts)).toEqual(
		pins.chains.map(({ contracts }) => contracts),
	);
	expect(read.pins.solana).toMatchObject({
		program: { address: pins.solana?.program.address, vault: pins.solana?.program.vault },
	});
});

test("an unreadable chain is left out, and the pins of the others are kept", () => {
	const file = clone();
	const { contracts, ...rest } = clone().chains[0];
	const { vault: _, ...without } = contracts;
	file.chains.push({ ...rest, chainId: 8453, name: "Base", contracts: without });
	file.chains.push({ ...rest, chainId: 10, name: "Optimism", contracts: { ...contracts, escrow: "0x01" } });
	const read = parsePins(file);
	expect(read.pins).toEqual(pins);
	expect(read.unread.map(({ chain }) => chain)).toEqual(["8453", "10"]);
	expect(read.unread[0]?.problem).toMatch(/^contracts\.vault: /);
});

test("Solana is left out if its program cannot be read", () => {
	const file = clone();
	const { program } = file.solana;
	file.solana.program = { ...program, address: "0x01" };
	const read = parsePins(file);
	expect(read.pins.solana).toBeUndefined();
	expect(read.unread[0]?.problem).toMatch(/^program\.address: /);
});

test("a file without a readable chain, or with a chain listed twice, is refused", () => {
	for (const file of [{}, { chains: [] }, { chains: [{ chainId: 1 }] }, undefined]) {
		expect(() => parsePins(file)).toThrow(TypeError);
	}
	const twice = clone();
	twice.chains.push(clone().chains[0]);
	expect(() => parsePins(twice)).toThrow("is listed twice");
});
