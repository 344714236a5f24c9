// Reads the errors and events of the compiled contracts, and checks that a test expects each of them. Needs a build:
// run forge first.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { contracts } from "../forge.ts";

const out = resolve(contracts, process.env.FOUNDRY_OUT ?? "out");

// Errors and events that no call can cause, and why.
const unreachable: Record<string, string> = {
	AccessManagedRequiredDelay: "declared by OpenZeppelin and thrown by nothing: the manager throws its own",
	InvalidShortString: "the EIP-712 name and version are short constants",
	StringTooLong: "the EIP-712 name and version are short constants",
	EIP712DomainChanged: "the domain never changes",
};

type AbiItem = { type: string; name: string; of: string };

const abi: AbiItem[] = ["GeoAccount", "GeoEscrow", "GeoVault", "CctpRoute"].flatMap((name) =>
	JSON.parse(readFileSync(join(out, `${name}.sol`, `${name}.json`), "utf8")).abi.map(
		(item: Omit<AbiItem, "of">) => ({
			...item,
			of: name,
		}),
	),
);

const tests = readdirSync(join(contracts, "test"), { recursive: true, encoding: "utf8" })
	.filter((path) => path.endsWith(".t.sol"))
	.map((path) => readFileSync(join(contracts, "test", path), "utf8"))
	.join("\n");

const interfaces = Object.fromEntries(
	["IGeoAccount", "IGeoEscrow", "IGeoVault"].map((name) => [
		name,
		readFileSync(join(contracts, "src/interfaces", `${name}.sol`), "utf8"),
	]),
);

/**
 * Returns the pattern of an expectation. If two interfaces declare the item, each needs a separate one, such as
 * `IGeoVault.Skipped`.
 */
function qualified({ type, name, of }: AbiItem): string {
	const own = `I${of}`;
	return interfaces[own]?.includes(`${type} ${name}(`) ? `\\b${own}\\.${name}` : `\\b${name}`;
}

const reachable = abi.filter(({ name }) => unreachable[name] === undefined);

test("the compiled contracts were read", () => {
	const names = abi.map(({ name }) => name);
	expect(names).toEqual(expect.arrayContaining(["OnlyEscrow", "AlreadyOpened", "FillExpired"]));
});

test.each(reachable.filter(({ type }) => type === "error"))(
	"a test expects the error $name of $of",
	(item) => {
		expect(tests).toMatch(new RegExp(`${qualified(item)}\\.selector\\b`));
	},
);

test.each(reachable.filter(({ type }) => type === "event"))(
	"a test expects the event $name of $of",
	(item) => {
		expect(tests).toMatch(new RegExp(`\\bemit [\\w.]*${qualified(item)}\\(`));
	},
);

test.each(Object.keys(unreachable))("%s is in a contract, and no test reaches it", (name) => {
	expect(abi.map((item) => item.name)).toContain(name);
	expect(tests).not.toContain(`${name}.selector`);
});
