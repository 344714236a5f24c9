// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {Attesters} from "../base/Attesters.sol";
import {vm} from "../base/Vm.sol";
import {IVault, World} from "../base/World.sol";
import {FakeVault} from "../mocks/FakeVault.sol";
import {BlockingToken, FeeToken, HookToken, NoReturnToken, RebasingToken} from "../mocks/HostileTokens.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Pools, Router, WrappedNative} from "../mocks/Router.sol";
import {Token} from "../mocks/Token.sol";

/// @dev Two chains in one state: each has an escrow and a vault of its own, and a call is made on one of them by
/// setting the chain id first. Tokens are shared, which the escrows and vaults cannot tell.
abstract contract Chains is World, Attesters {
    uint256 internal constant CHAINS = 2;
    uint256 internal constant STOCK = 1e30;

    IGeoEscrow[] internal escrows;
    IVault[] internal vaults;
    FakeVault internal fakeVault;
    Router internal router;
    Pools internal pools;
    WrappedNative internal wrapped;

    Token internal plain;
    FeeToken internal fee;
    NoReturnToken internal noReturn;
    BlockingToken internal blocking;
    HookToken internal hook;
    RebasingToken internal rebasing;
    /// @dev The native token is the first.
    address[] internal tokens;

    Intruder internal intruder;
    Intruder internal refuser;
    Intruder internal burner;
    address[] internal wallets;

    function _deployChains() internal {
        _createAttesters(3);
        plain = new Token();
        fee = new FeeToken();
        noReturn = new NoReturnToken();
        blocking = new BlockingToken();
        hook = new HookToken();
        rebasing = new RebasingToken();
        wrapped = new WrappedNative();
        router = new Router();
        pools = router.POOLS();
        tokens = [
            NATIVE, address(plain), address(fee), address(noReturn), address(blocking), address(hook), address(rebasing)
        ];
        intruder = new Intruder();
        refuser = new Intruder();
        burner = new Intruder();
        hook.setHook(intruder);
        wallets = [_actor("wallet 0"), _actor("wallet 1"), address(intruder), address(refuser), address(burner)];
        fakeVault = new FakeVault();

        AccessManager manager = _deployManager();
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            vm.chainId(_chainId(chain));
            escrows.push(_deployEscrow());
            vaults.push(_deployVault(manager, escrows[chain], address(router), address(plain), address(wrapped)));
            _wireRoles(manager, vaults[chain]);
        }
        _stock();
    }

    function _stock() private {
        vm.deal(address(this), STOCK);
        wrapped.deposit{value: STOCK}();
        wrapped.transfer(address(pools), STOCK);
        for (uint256 i = 1; i < tokens.length; ++i) {
            Token token = Token(tokens[i]);
            token.mint(address(pools), STOCK);
            for (uint256 chain = 0; chain < CHAINS; ++chain) {
                token.mint(address(vaults[chain]), STOCK);
            }
            for (uint256 w = 0; w < wallets.length; ++w) {
                token.mint(wallets[w], STOCK);
            }
        }
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            vm.deal(address(vaults[chain]), STOCK);
        }
        for (uint256 w = 0; w < wallets.length; ++w) {
            vm.deal(wallets[w], STOCK);
        }
    }

    function _chainId(uint256 chain) internal pure returns (uint256) {
        return 1000 + chain;
    }

    function _chainOf(uint256 chainId) internal pure returns (uint256) {
        return chainId - 1000;
    }

    function _token(address token) internal pure returns (Token) {
        return Token(token);
    }

    function _isEscrow(address account) internal view returns (bool) {
        return account == address(escrows[0]) || account == address(escrows[1]);
    }

    function _isVault(address account) internal view returns (bool) {
        return account == address(vaults[0]) || account == address(vaults[1]);
    }

    function _balance(address token, address account) internal view returns (uint256) {
        return token == NATIVE ? account.balance : Token(token).balanceOf(account);
    }
}
