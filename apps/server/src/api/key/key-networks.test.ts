import { expect, test } from "vitest";
import { createKeyNetworks } from "./key-networks.ts";

function networks() {
	const clock = { nowMs: 0 };
	const told: { keyId: string; networks: number }[] = [];
	const counted = createKeyNetworks({ nowMs: () => clock.nowMs, onMany: (found) => told.push(found) });
	return { clock, told, ...counted };
}

test("addresses of one network count once, and addresses of other networks separately", () => {
	const { used, most } = networks();
	for (const address of ["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.3", "2001:db8:1::1", "2001:db8:1:7::2"]) {
		used("a", address);
	}
	used("b", "10.0.1.1");
	expect(most()).toBe(2);
});

test("a key that is used from many networks is reported, and again when the number has doubled", () => {
	const { used, told } = networks();
	for (let i = 1; i <= 12; i++) used("a", `10.0.${i}.1`);
	expect(told).toEqual([{ keyId: "a", networks: 6 }]);
	used("a", "10.0.13.1");
	expect(told).toHaveLength(2);
});

test("uses older than an hour do not count", () => {
	const { clock, used, most, told } = networks();
	for (let i = 1; i <= 5; i++) used("a", `10.0.${i}.1`);
	clock.nowMs = 3_600_001;
	used("a", "10.0.6.1");
	expect(most()).toBe(1);
	expect(told).toEqual([]);
});
