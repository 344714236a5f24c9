// Loaded before all other modules. Makes libraries cache earlier results, and not wait for results that are already
// there. Their answers stay the same, and a world costs less. Half of its cost was hashing the same function signatures
// and formatting the same addresses, and then reading the same bytecode and awaiting each of its steps.
import { registerHooks } from "node:module";

type Change = { module: RegExp; find: string; replace: string };

const changes: Change[] = [
	{
		module: /\/@solana\/codecs-strings\/dist\/index\.node\.mjs$/,
		find: `var getBase58Encoder = () => getBaseXEncoder(alphabet2);
var getBase58Decoder = () => getBaseXDecoder(alphabet2);`,
		replace: `
var remembered = (known, key, work) => {
  let value = known.get(key);
  if (value === undefined) {
    if (known.size > 50000) known.clear();
    value = work();
    known.set(key, value);
  }
  return value;
};
var slowBase58 = { encoder: getBaseXEncoder(alphabet2), decoder: getBaseXDecoder(alphabet2) };
var [bytesOfText, textOfBytes] = [new Map(), new Map()];
var bytesOf = (text) => remembered(bytesOfText, text, () => slowBase58.encoder.encode(text));
var quickBase58Encoder = createEncoder({
  getSizeFromValue: (text) => bytesOf(text).length,
  write(text, bytes, offset) {
    const found = bytesOf(text);
    bytes.set(found, offset);
    return offset + found.length;
  }
});
var quickBase58Decoder = createDecoder({
  read(rawBytes, offset) {
    const bytes = offset === 0 ? rawBytes : rawBytes.slice(offset);
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).latin1Slice();
    return [remembered(textOfBytes, key, () => slowBase58.decoder.decode(bytes)), rawBytes.length];
  }
});
var getBase58Encoder = () => quickBase58Encoder;
var getBase58Decoder = () => quickBase58Decoder;`,
	},
	{
		module: /\/viem\/_esm\/utils\/hash\/toSignatureHash\.js$/,
		find: "    return hashSignature(toSignature(fn));",
		replace: `    if (typeof fn !== "string") return hashSignature(toSignature(fn));
    let hash = known.get(fn);
    if (hash === undefined) {
        hash = hashSignature(toSignature(fn));
        known.set(fn, hash);
    }
    return hash;
}
const known = new Map();
{`,
	},
	{
		module: /\/viem\/_esm\/utils\/abi\/formatAbiItem\.js$/,
		find: "export function formatAbiItem(abiItem, { includeName = false } = {}) {",
		replace: `const known = new WeakMap();
export function formatAbiItem(abiItem, { includeName = false } = {}) {
    if (includeName) return formatAnew(abiItem, { includeName });
    let text = known.get(abiItem);
    if (text === undefined) {
        text = formatAnew(abiItem, { includeName });
        known.set(abiItem, text);
    }
    return text;
}
function formatAnew(abiItem, { includeName }) {`,
	},
	{
		module: /\/viem\/_esm\/utils\/hash\/keccak256\.js$/,
		find: "export function keccak256(value, to_) {",
		replace: `const known = new Map();
export function keccak256(value, to_) {
    if (typeof value !== "string" || value.length > 4096 || (to_ && to_ !== "hex")) return hashAnew(value, to_);
    let hash = known.get(value);
    if (hash === undefined) {
        if (known.size > 20000) known.clear();
        hash = hashAnew(value, to_);
        known.set(value, hash);
    }
    return hash;
}
function hashAnew(value, to_) {`,
	},
	{
		// The interpreter searches again in every call for the jump targets and pushed values of a code.
		module: /\/@ethereumjs\/evm\/dist\/esm\/interpreter\.js$/,
		find: "    _getValidJumpDestinations(code) {",
		replace: `    static analysed = new WeakMap();
    _getValidJumpDestinations(code) {
        let known = Interpreter.analysed.get(code);
        if (known === undefined) {
            known = this.analyse(code);
            Interpreter.analysed.set(code, known);
        }
        return known;
    }
    analyse(code) {`,
	},
	{
		// The interpreter awaits every step. Most have a fixed price and neither call nor touch the state.
		module: /\/@ethereumjs\/evm\/dist\/esm\/interpreter\.js$/,
		find: "                await this.runStep(opCodeObj);",
		replace: `                const info = opCodeObj?.opcodeInfo;
                if (info === undefined || info.dynamicGas || info.isAsync || info.isInvalid) {
                    await this.runStep(opCodeObj);
                }
                else {
                    this.useGas(info.feeBigInt, info);
                    this._runState.programCounter++;
                    opCodeObj.opHandler(this._runState, this.common);
                }`,
	},
	{
		module: /\/@ethereumjs\/util\/dist\/esm\/bytes\.js$/,
		find: `        return right
            ? new Uint8Array([...msg, ...new Uint8Array(length - msg.length)])
            : new Uint8Array([...new Uint8Array(length - msg.length), ...msg]);`,
		replace: `        const padded = new Uint8Array(length);
        padded.set(msg, right ? 0 : length - msg.length);
        return padded;`,
	},
];

registerHooks({
	load(url, context, nextLoad) {
		const loaded = nextLoad(url, context);
		const due = changes.filter(({ module }) => module.test(url));
		if (due.length === 0) return loaded;
		let source = String(loaded.source);
		for (const { find, replace } of due) {
			if (source.split(find).length !== 2) throw new Error(`${url} has changed: see ${import.meta.url}`);
			source = source.replace(find, () => replace);
		}
		return { ...loaded, source };
	},
});
