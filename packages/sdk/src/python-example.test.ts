import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, hashTypedData, pad } from "viem";
import { hashAuthorization } from "viem/utils";
import { expect, test } from "vitest";
import { changeAt, leafPaths } from "../test/change-at.ts";
import { account, makeBuild, makeIntent, makePins, makeQuote, nowMs } from "../test/op-fixture.ts";

// The Python example computes everything independently, in another language and with other libraries. It runs on
// Debian's Python with Debian's package of pycryptodomex.

const root = join(import.meta.dirname, "../../..");

/** Runs a line of Python for each case, with the functions of geo_op.py and the case as `c`. */
function inPython(expression: string, cases: readonly object[]): string[] {
	const program = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "examples/python")
from geo_op import *

def answer(c):
    try:
        return ${expression}
    except Refused as refused:
        return "refused: " + str(refused)

print(json.dumps([answer(c) for c in json.load(sys.stdin)]))`;
	const input = JSON.stringify(cases, (_, value) => (typeof value === "bigint" ? String(value) : value));
	const output = execFileSync("/usr/bin/python3", ["-c", program], { cwd: root, input, encoding: "utf8" });
	return JSON.parse(output);
}

function makeCase() {
	const { recipient = account.address, ...intent } = makeIntent();
	const quote = makeQuote();
	return {
		asked: {
			...intent,
			recipient,
			originChain: Number(intent.originChain),
			destinationChain: Number(intent.destinationChain),
			amount: Number(intent.amount),
			slippageBps: quote.slippageBps,
			minOutput: 9_900_000,
		},
		quote,
		build: makeBuild(),
		pins: makePins(),
		now: nowMs / 1000,
	};
}
const verified = '"0x" + order_digest(verify(**c)).hex()';

test("the Python example computes the SDK's hash, and the order ids of the vectors", () => {
	expect(inPython(verified, [makeCase()])).toEqual([makeBuild().geoOpHash]);
	const file = join(root, "packages/protocol/vectors/orders.json");
	const { orders } = JSON.parse(readFileSync(file, "utf8")) as {
		orders: { orderId: string; order: object }[];
	};
	expect(orders.length).toBeGreaterThan(2);
	expect(inPython('order_id(c["order"])', orders)).toEqual(orders.map(({ orderId }) => orderId));
});

test("the Python example writes the typed data that a wallet signs, as the SDK does", () => {
	const [shown] = inPython("json.dumps(typed_data(verify(**c)))", [makeCase()]);
	const typedData = JSON.parse(shown ?? "");
	const { domain, types, primaryType, message } = makeBuild().geoOp.typedData;
	expect(typedData).toMatchObject({ types, primaryType, domain: { chainId: domain.chainId } });
	expect(Object.keys(typedData.message)).toEqual(types.Order?.map(({ name }) => name));
	expect(Object.keys(typedData.message).sort()).toEqual(Object.keys(message).sort());
	expect(hashTypedData(typedData)).toBe(makeBuild().geoOpHash);
});

test("the Python example computes the hash of a delegation as viem does", () => {
	const address = pad("0x7a6901", { size: 20 }) satisfies Address;
	const cases = [0, 1, 127, 128, 300].map((nonce) => ({ chainId: 8453 + nonce, address, nonce }));
	const hash = '"0x" + authorization_hash(c["chainId"], c["address"], c["nonce"]).hex()';
	expect(inPython(hash, cases)).toEqual(cases.map((one) => hashAuthorization(one)));
});

test("the Python example refuses a build in which any one value was changed", () => {
	const { geoOp, geoOpHash } = makeBuild();
	const paths = leafPaths({ geoOp, geoOpHash }).flatMap((path) =>
		[0, 7, 100].map((seed) => ({ path, seed })),
	);
	expect(paths.length).toBeGreaterThan(90);
	const changed = paths.map(({ path, seed }) => changeAt(makeCase(), `build.${path}`, seed));
	const answers = inPython(verified, changed);
	expect(paths.filter((_, i) => !answers[i]?.startsWith("refused: "))).toEqual([]);
});

test("the Python example refuses terms other than the caller's request, even if the service's responses are consistent", () => {
	const others = ["amount", "inputToken", "outputToken", "recipient", "walletAddress", "minOutput"] as const;
	const cases = others.map((name) => changeAt(makeCase(), `asked.${name}`, 200_000));
	const late = { ...makeCase(), now: nowMs / 1000 + 7200 };
	const early = { ...makeCase(), now: nowMs / 1000 - 7200 };
	const answers = inPython(verified, [...cases, late, early]);
	expect(answers.filter((answer) => !answer.startsWith("refused: "))).toEqual([]);
});
