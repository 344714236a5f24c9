// Reads the errors and events of the compiled contracts, and checks that a test expects each of them. Needs a build of
// every root: run forge first.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { contracts } from "../forge.ts";

type Root = {
	/** Foundry's root, relative to the folder of the contracts. */
	path: string;
	contracts: string[];
	/** Interfaces whose items a test must name with the interface, as two of them may declare the same name. */
	interfaces: string[];
	/** Errors and events that no call can cause, and why. */
	unreachable: Record<string, string>;
};

const unreachableInBoth = {
	AccessManagedRequiredDelay: "declared by OpenZeppelin and thrown by nothing: the manager throws its own",
	InvalidShortString: "the EIP-712 name and version are short constants",
	StringTooLong: "the EIP-712 name and version are short constants",
	EIP712DomainChanged: "the domain never changes",
};

const roots: Root[] = [
	{
		path: ".",
		contracts: ["GeoAccount", "GeoEscrow", "GeoVault"],
		interfaces: ["IGeoEscrow", "IGeoVault"],
		unreachable: {
			...unreachableInBoth,
			ERC7579UnsupportedExecType: "execute refuses every mode but one before",
			ERC7579TryExecuteFail: "execute refuses the mode that tries",
			OutOfRangeAccess: "the batch is decoded, with its bounds, before",
		},
	},
	{
		path: "next",
		contracts: ["GeoAccount", "GeoEscrow", "GeoVault", "CctpRoute"],
		interfaces: ["IGeoAccount", "IGeoEscrow", "IGeoVault"],
		unreachable: unreachableInBoth,
	},
];

type AbiItem = { type: string; name: string; of: string };

describe.each(roots)("contracts in $path", (root) => {
	const folder = resolve(contracts, root.path);
	const out = resolve(folder, process.env.FOUNDRY_OUT ?? "out");

	const abi: AbiItem[] = root.contracts.flatMap((name) =>
		JSON.parse(readFileSync(join(out, `${name}.sol`, `${name}.json`), "utf8")).abi.map(
			(item: Omit<AbiItem, "of">) => ({
				...item,
				of: name,
			}),
		),
	);

	const tests = readdirSync(join(folder, "test"), { recursive: true, encoding: "utf8" })
		.filter((path) => path.endsWith(".t.sol"))
		.map((path) => readFileSync(join(folder, "test", path), "utf8"))
		.join("\n");

	const interfaces = Object.fromEntries(
		root.interfaces.map((name) => [
			name,
			readFileSync(join(folder, "src/interfaces", `${name}.sol`), "utf8"),
		]),
	);

	/**
	 * Returns the pattern of an expectation. If two interfaces declare the item, each needs its own:
	 * `IGeoVault.Skipped`.
	 */
	function qualified({ type, name, of }: AbiItem): string {
		const own = `I${of}`;
		return interfaces[own]?.includes(`${type} ${name}(`) ? `\\b${own}\\.${name}` : `\\b${name}`;
	}

	const reachable = abi.filter(({ name }) => root.unreachable[name] === undefined);

	test("the compiled contracts were read", () => {
		const names = abi.map(({ name }) => name);
		expect(names).toEqual(
			expect.arrayContaining(["AlreadyOpened", "FillExpired", "SafeERC20FailedOperation"]),
		);
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

	test.each(Object.keys(root.unreachable))("%s is in a contract, and no test reaches it", (name) => {
		expect(abi.map((item) => item.name)).toContain(name);
		expect(tests).not.toContain(`${name}.selector`);
	});
});
