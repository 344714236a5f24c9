import { type Command, InvalidArgumentError } from "commander";

/** The options of `geoswapd shadow`, as commander returns them. */
export type ShadowOptions = {
	config: string;
	requests?: string;
	generate?: string;
	perHour: number;
	prices?: string;
	days: number;
	inventory?: string;
	inventoryUsd: number;
	acceptSeconds: number;
	replenishHours: number;
	replenishBps: number;
	journal: string;
	report?: string;
	json?: boolean;
};

/**
 * Defines `geoswapd shadow`. The function that runs it is passed in, because it is a process, which operators'
 * commands do not import.
 */
export function defineShadowCommands(
	program: Command,
	{ run }: { run: (options: ShadowOptions) => Promise<void> },
): void {
	program
		.command("shadow")
		.description(
			"run the service on paper against live chains, without keys and without a database; nothing is sent",
		)
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json")
		.option("--requests <file>", "requests to quote: a JSON object { at, request } on each line")
		.option("--generate <seed>", "make up requests from this seed; the default is a new one")
		.option("--per-hour <n>", "requests that are made up in an hour, on average", positive, 20)
		.option(
			"--prices <journal>",
			"take prices, and requests if none are given, from a journal instead of chains",
		)
		.option("--days <n>", "days to run, each with a separate journal and report", positive, 1)
		.option("--inventory <file>", "inventory to start with: whole tokens by chain and symbol")
		.option(
			"--inventory-usd <usd>",
			"without a file, value of each token that is delivered from inventory",
			positive,
			100_000,
		)
		.option("--accept-seconds <s>", "seconds after its quote at which each swap is submitted", natural, 10)
		.option(
			"--replenish-hours <h>",
			"hours after which inputs are sold and inventory is moved back",
			positive,
			24,
		)
		.option("--replenish-bps <bps>", "cost of moving inventory between chains", natural, 10)
		.option("--journal <file>", "where to record prices, requests and books", "shadow.jsonl")
		.option(
			"--report <file>",
			"write the report there as well: as JSON if it ends in .json, else as Markdown",
		)
		.option("--json", "print the report as JSON")
		.addHelpText(
			"after",
			"\nSIGINT or SIGTERM ends the day early, with its report.\nExit codes: 0 done, 1 failed, 2 wrong input. docs/shadow.md explains the report.",
		)
		.action(run);
}

function positive(text: string): number {
	const value = Number(text);
	if (!(value > 0 && Number.isFinite(value)))
		throw new InvalidArgumentError("It must be a number above zero.");
	return value;
}

function natural(text: string): number {
	if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
	return Number(text);
}
