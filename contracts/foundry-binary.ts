import { createRequire } from "node:module";

/**
 * Returns the binary of a Foundry tool for this platform, which the tool's package depends on. That package's own
 * launcher would be a second process in between, and loses the exit code.
 */
export function foundryBinary(tool: "forge" | "anvil" | "cast", importer: string): string {
	const launcher = createRequire(importer).resolve(`@foundry-rs/${tool}/package.json`);
	const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
	return createRequire(launcher).resolve(`@foundry-rs/${tool}-${platform}/bin/${tool}`);
}
