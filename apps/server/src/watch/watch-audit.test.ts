import { expect, test } from "vitest";
import type { Breach, Report } from "../audit/read/report.ts";
import type { Config } from "../config/config.ts";
import type { Reading } from "../telemetry/meter.ts";
import { watchAudit } from "./watch-audit.ts";

test("notices are counted separately from breaches", async () => {
	const readings: Reading[] = [];
	const { onRun } = watchAudit({
		meter: {
			counter: () => () => {},
			histogram: () => {
				throw new Error("unexpected");
			},
			reading: (reading) => readings.push(reading),
		},
		config: { chains: [{ chainId: 1 }, { chainId: 2 }] } as unknown as Config,
		nowMs: () => 0,
	});
	const breach = (invariant: Breach["invariant"], chainIds: number[]): Breach => ({
		invariant,
		chainIds,
		message: "",
		next: "",
	});
	const breaches = [
		...[breach("I2", [1]), breach("I3", [1, 2])],
		...[breach("I2", [1]), breach("I13", [2])].map((told) => ({ ...told, pauses: false as const })),
	];
	const report = { breaches, lostUsdCents: {}, chains: [], owed: [], unchecked: [] } as unknown as Report;
	onRun({ report, endedAtMs: 0, durationMs: 0, isWhole: true });
	const samples = (await readings[0]?.read()) ?? [];
	const above = (name: string) =>
		samples
			.filter(({ gauge, value }) => gauge === name && value > 0)
			.map(({ labels, value }) => [labels?.invariant, labels?.chain, value]);
	expect(above("geoswap_audit_breaches")).toEqual([
		["I2", "1", 1],
		["I3", "1", 1],
		["I3", "2", 1],
	]);
	expect(above("geoswap_audit_notices")).toEqual([
		["I2", "1", 1],
		["I13", "2", 1],
	]);
});

test("the age of an unchecked chain grows while that of the others does not, and owed inputs are counted by chain", async () => {
	const readings: Reading[] = [];
	const { onRun } = watchAudit({
		meter: {
			counter: () => () => {},
			histogram: () => {
				throw new Error("unexpected");
			},
			reading: (reading) => readings.push(reading),
		},
		config: { chains: [{ chainId: 1 }, { chainId: 2 }] } as unknown as Config,
		nowMs: () => 400_000,
	});
	const run = (endedAtMs: number, report: Partial<Report>) => {
		const nothing = { breaches: [], lostUsdCents: {}, chains: [], owed: [], unchecked: [] };
		onRun({
			report: { ...nothing, ...report } as unknown as Report,
			endedAtMs,
			durationMs: 0,
			isWhole: true,
		});
	};
	run(100_000, {});
	const owed = [{ chainId: 2 }] as Report["owed"];
	run(400_000, { unchecked: [{ chainId: 1, why: "it is gone" }], owed });
	const samples = (await readings[0]?.read()) ?? [];
	const of = (name: string) =>
		samples.filter(({ gauge }) => gauge === name).map(({ labels, value }) => [labels?.chain, value]);
	expect(of("geoswap_audit_age_seconds")).toEqual([
		["1", 300],
		["2", 0],
	]);
	expect(of("geoswap_audit_owed")).toEqual([
		["1", 0],
		["2", 1],
	]);
});
