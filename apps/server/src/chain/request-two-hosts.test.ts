import type { Order } from "@geoswap/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DepositSight, ToldDeposit } from "./deposit-sight.ts";
import { type AskedHost, isFarEnough, requestTwoHosts } from "./request-two-hosts.ts";

const deposit: ToldDeposit = {
	orderId: "0x01",
	order: {} as Order,
	blockNumber: 5,
	blockHash: "0x05",
	transactionHash: "0x02",
};

type Said = DepositSight | "nothing";
const seen = (headNumber: number, finalizedNumber = 0): Said => ({
	verdict: "agrees",
	headNumber,
	finalizedNumber,
});
const behind: Said = { verdict: "behind" };
const other: Said = { verdict: "differs", how: "another block" };

const hostsOf = (said: readonly Said[]): AskedHost[] =>
	said.map((answer, i) => ({
		host: `host-${i}`,
		see: async () => {
			if (answer === "nothing") throw new Error("https://secret-key@host took too long");
			return answer;
		},
	}));
const ask = (said: readonly Said[], needed = { headNumber: 7, finalizedNumber: 5 }) =>
	requestTwoHosts(hostsOf(said), deposit, needed);

test("a deposit is agreed on once two hosts have it at the required depth, and the lower depth of the two counts", async () => {
	expect(await ask([seen(9, 3), seen(8, 4)])).toEqual({
		verdict: "agrees",
		headNumber: 8,
		finalizedNumber: 3,
	});
	expect(await ask(["nothing", seen(9), behind, other, seen(7)])).toMatchObject({ headNumber: 7 });
});

test("a host that hangs does not delay two others that agree", async () => {
	const hangs: AskedHost = { host: "slow", see: () => new Promise(() => {}) };
	const hosts = [hangs, ...hostsOf([seen(9), seen(9)])];
	expect(await requestTwoHosts(hosts, deposit, { headNumber: 7, finalizedNumber: 5 })).toMatchObject({
		verdict: "agrees",
	});
});

test("one host is never enough, because others must respond, and a host with a different deposit is named", async () => {
	await expect(ask([seen(9), "nothing", "nothing"])).rejects.toThrow(
		"two hosts are needed, but these do not answer: host-1, host-2",
	);
	expect(await ask([seen(9), behind, "nothing"])).toEqual({ verdict: "behind" });
	expect(await ask([seen(9), other])).toEqual({ verdict: "differs", how: "host-1: another block" });
});

test("an accepted deposit is one that two hosts have at the required depth, regardless of the responses", async () => {
	const said = fc.oneof(
		fc
			.record({ headNumber: fc.nat(10), finalizedNumber: fc.nat(6) })
			.map((heads): Said => ({ verdict: "agrees", ...heads })),
		fc.constantFrom<Said>(behind, other, "nothing"),
	);
	const needs = fc.record({ headNumber: fc.nat(10), finalizedNumber: fc.nat(6) });
	await fc.assert(
		fc.asyncProperty(fc.array(said, { minLength: 2, maxLength: 5 }), needs, async (all, needed) => {
			const sight = await ask(all, needed).catch(() => undefined);
			if (sight?.verdict !== "agrees" || !isFarEnough(sight, needed)) return;
			const deep = all.filter(
				(one) => one !== "nothing" && one.verdict === "agrees" && isFarEnough(one, needed),
			);
			expect(deep.length).toBeGreaterThanOrEqual(2);
		}),
	);
});
