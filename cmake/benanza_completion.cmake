# SPDX-License-Identifier: Apache-2.0
# Writes what shells need to complete the command lines of PROGRAM, called NAME, from what it prints for
# --help: OUT/bash/NAME, OUT/zsh/_NAME, OUT/fish/NAME.fish.
cmake_policy(VERSION 3.22)

set(bash_words "")
set(bash_values "")
set(zsh "")
set(fish "")

# add_option(<command> <left part of the help> <what it is>)
function(add_option command left what)
  string(REGEX MATCH "^[^ ]+" names "${left}")
  string(REPLACE "," " " names "${names}")
  set(value "")
  if(left MATCHES "^[^ ]+ ([^ ]+)" AND NOT CMAKE_MATCH_1 MATCHES ":$")
    set(value yes)
  endif()
  set(choices "")
  if(left MATCHES "{([a-z0-9_,-]+)}")
    string(REPLACE "," " " choices "${CMAKE_MATCH_1}")
  endif()
  string(REPLACE "'" "'\\''" quoted "${what}")
  string(REGEX REPLACE "([][:])" "\\\\\\1" in_zsh "${quoted}")
  set(in_fish "")
  if(command)
    set(in_fish "-n '__fish_seen_subcommand_from ${command}' ")
  elseif(main_commands)
    set(in_fish "-n 'not __fish_seen_subcommand_from ${main_commands}' ")
  endif()
  string(REPLACE "\\" "\\\\" fish_text "${what}")
  string(REPLACE "'" "\\'" fish_text "${fish_text}")
  set(argument "")
  if(value)
    set(argument ":value:_files")
    set(fish_value " -r")
    if(choices)
      set(argument ":value:(${choices})")
      set(fish_value " -x -a '${choices}'")
    endif()
  endif()
  string(REPLACE " " ";" all "${names}")
  foreach(name IN LISTS all)
    string(APPEND bash_words " ${name}")
    if(choices)
      string(APPEND bash_values "  '${command} ${name}') words='${choices}' ;;\n")
    endif()
    string(APPEND zsh " \\\n    '*${name}[${in_zsh}]${argument}'")
    if(name MATCHES "^--(.*)$")
      string(APPEND fish "complete -c ${NAME} ${in_fish}-l ${CMAKE_MATCH_1}${fish_value} -d '${fish_text}'\n")
    elseif(name MATCHES "^-(.)$")
      string(APPEND fish "complete -c ${NAME} ${in_fish}-s ${CMAKE_MATCH_1}${fish_value} -d '${fish_text}'\n")
    endif()
  endforeach()
  foreach(text bash_words bash_values zsh fish)
    set(${text} "${${text}}" PARENT_SCOPE)
  endforeach()
endfunction()

# read_help(<command>): calls add_option for each option of the program, or of a command of it.
macro(read_help command)
  set(arguments --help)
  if(NOT "${command}" STREQUAL "")
    set(arguments ${command} --help)
  endif()
  execute_process(COMMAND ${PROGRAM} ${arguments} OUTPUT_VARIABLE help RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NAME} ${command} --help failed: ${failed}")
  endif()
  set(option "")
  while(NOT help STREQUAL "")
    string(FIND "${help}" "\n" end)
    string(SUBSTRING "${help}" 0 ${end} line)
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${help}" ${end} -1 help)
    if(option AND line MATCHES "^          +([^ ].*)$") # what it is, on the next line
      add_option("${command}" "${option}" "${CMAKE_MATCH_1}")
      set(option "")
    elseif(option)
      add_option("${command}" "${option}" "")
      set(option "")
    endif()
    if(line MATCHES "^  (-.*)$")
      set(option "${CMAKE_MATCH_1}")
      if(option MATCHES "^(.*[^ ])  +([^ ].*)$")
        add_option("${command}" "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
        set(option "")
      elseif(option MATCHES "^(.*(Excludes|Needs): [^ ]+) (.*)$")
        add_option("${command}" "${CMAKE_MATCH_1}" "${CMAKE_MATCH_3}")
        set(option "")
      endif()
    endif()
  endwhile()
  if(option)
    add_option("${command}" "${option}" "")
  endif()
endmacro()

# The commands: `  name   what it is` below a heading of their own.
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help)
set(main_commands "")
if(help MATCHES "\nSubcommands:\n((  [^\n]*\n)+)")
  string(REGEX MATCHALL "\n  [a-z_]+ " main_commands "\n${CMAKE_MATCH_1}")
  list(TRANSFORM main_commands STRIP)
endif()
set(commands ${main_commands})
list(JOIN main_commands " " main_commands)

set(bash_lists "")
set(zsh_cases "")
foreach(command IN LISTS commands ITEMS "")
  set(bash_words "")
  set(zsh "")
  read_help("${command}")
  string(STRIP "${bash_words}" bash_words)
  string(APPEND bash_lists "  '${command}') words='${bash_words}' ;;\n")
  string(APPEND zsh_cases "'${command}') _arguments${zsh} \\\n    '*:file:_files' ;;\n")
endforeach()

foreach(command IN LISTS commands)
  string(APPEND fish "complete -c ${NAME} -n '__fish_use_subcommand' -a ${command}\n")
endforeach()
set(find "")
if(main_commands)
  set(find "  if ((COMP_CWORD > 1)); then
    for each in ${main_commands}; do
      [[ \${COMP_WORDS[1]} == \"\$each\" ]] && command=\$each
    done
  fi
")
endif()
if(bash_values)
  set(bash_values "  case \"\$command \$before\" in\n${bash_values}  esac\n")
endif()
set(made "# SPDX-License-Identifier: Apache-2.0\n# Made from ${NAME} --help.\n")
file(WRITE ${OUT}/bash/${NAME} "${made}_${NAME}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command='' words='' each
${find}${bash_values}  if [[ -z \$words && \$current == -* ]]; then
    case \"\$command\" in
${bash_lists}    esac
  elif [[ -z \$words ]] && ((COMP_CWORD == 1)); then
    words='${main_commands}'
  fi
  each=\${current##*,} # of several values with commas between
  mapfile -t COMPREPLY < <(compgen -P \"\${current%\"\$each\"}\" -W \"\$words\" -- \"\$each\")
}
complete -o default -F _${NAME} ${NAME}
")
file(WRITE ${OUT}/fish/${NAME}.fish "${made}${fish}")
set(shift "")
if(main_commands)
  string(REPLACE " " "|" alternatives "${main_commands}")
  set(shift "case \"\${words[2]}\" in
${alternatives}) command=\${words[2]}; shift words; ((CURRENT--)) ;;
esac
if ((CURRENT == 2)) && [[ -z \$command && \${words[2]} != -* ]]; then
  compadd -- ${main_commands}
fi
")
endif()
file(WRITE ${OUT}/zsh/_${NAME} "#compdef ${NAME}\n${made}local command=''\n${shift}case \"\$command\" in\n${zsh_cases}esac\n")
